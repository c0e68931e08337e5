/*-------------------------------------------------------------------------
 *
 * cursor.h
 *		A place in a text, by characters and by bytes
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CURSOR_H
#define SIMHASH_CURSOR_H

#include <limits.h>

#include "mb/pg_wchar.h"

/* Both counted from 0. */
typedef struct TextPlace
{
	int32		character;
	size_t		byte;
} TextPlace;

#define TEXT_BEGIN		((TextPlace) {0, 0})

/*
 * Bytes of the first character of a text that is not empty.  Damaged data are taken byte
 * by byte.
 */
static inline int
character_length(const char *text, size_t length)
{
	return Max(pg_mbcharcliplen(text, Min(length, INT_MAX), 1), 1);
}

static inline void
next_character(const char *text, size_t length, TextPlace *place)
{
	place->byte += character_length(text + place->byte, length - place->byte);
	place->character++;
}

/*
 * Go on to a character, if it is not passed, or to the end of the text.
 */
static inline void
advance_to(const char *text, size_t length, TextPlace *place, int32 character)
{
	while (place->character < character && place->byte < length)
		next_character(text, length, place);
}

#endif							/* SIMHASH_CURSOR_H */
