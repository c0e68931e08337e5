/*
 * Positions of a text's shingles
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_LOCATE_H
#define SIMHASH_LOCATE_H

#include "text/cursor.h"
#include "text/shingle.h"

/* A range of a text in the server's encoding. */
typedef struct Passage
{
	TextPosition start;
	TextPosition end;			/* end of the range (exclusive) */
} Passage;

/*
 * Called with each shingle and its passage, in order.  The bytes are valid only during the
 * call.
 */
typedef void (*LocatedConsumer) (void *arg, const char *shingle, size_t length,
								 Passage passage);

extern void locate_shingles(const char *text, size_t length, int width,
							ShingleUnit unit, LocatedConsumer consume, void *arg);

#endif							/* SIMHASH_LOCATE_H */
