/*
 * Shingles of a text, their positions, and those of its lines, sentences and paragraphs
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_LOCATE_H
#define SIMHASH_LOCATE_H

#include <limits.h>

#include "mb/pg_wchar.h"
#include "utils/array.h"

#include "text/shingle.h"

/* --- shingles without positions, of document.c ---------------------------------- */

extern void document_shingles(const char *text, size_t length, int width,
							  ShingleUnit unit, ShingleConsumer consume,
							  void *arg);
extern void token_shingles(ArrayType *tokens, int width,
						   ShingleConsumer consume, void *arg);

/* --- positions ------------------------------------------------------------------ */

/* A position in a text.  Both numbers count from 0. */
typedef struct TextPosition
{
	int32		character;
	uint32		byte;
} TextPosition;

#define TEXT_BEGIN		((TextPosition) {0, 0})

/*
 * Return the number of bytes of the first character of a text that is not empty, at least
 * 1 and at most `length`.  If data are invalid, recent minor releases of PostgreSQL raise an
 * error.  Earlier ones return the length that the first byte announces, which may exceed
 * what is left of the text.
 */
static inline int
character_length(const char *text, size_t length)
{
	int			n = pg_mbcharcliplen(text, Min(length, INT_MAX), 1);

	return Min((size_t) Max(n, 1), length);
}

/*
 * Advance by one character.
 */
static inline void
next_character(const char *text, size_t length, TextPosition *position)
{
	position->byte += character_length(text + position->byte, length - position->byte);
	position->character++;
}

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

/* --- segments, of segment.c ---------------------------------------------------- */

typedef enum SegmentKind
{
	SEGMENT_LINE,
	SEGMENT_SENTENCE,
	SEGMENT_PARAGRAPH
} SegmentKind;

/* Called with each segment, in order. */
typedef void (*SegmentConsumer) (void *arg, TextPosition start, TextPosition end);

extern void segment_text(const char *text, size_t length, SegmentKind kind,
						 SegmentConsumer consume, void *arg);

#endif							/* SIMHASH_LOCATE_H */
