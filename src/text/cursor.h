/*
 * A position in a text, by characters and by bytes
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_CURSOR_H
#define SIMHASH_CURSOR_H

#include <limits.h>

#include "mb/pg_wchar.h"

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

#endif							/* SIMHASH_CURSOR_H */
