/*-------------------------------------------------------------------------
 *
 * word_cursor.h
 *		The rows that have a word, in order, some at a time
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_WORD_CURSOR_H
#define SIMHASH_WORD_CURSOR_H

#include "access/relscan.h"

/* Rows are tid_numbers. */
typedef struct WordCursor
{
	uint64		word;
	uint64	   *row;			/* the rows kept, ascending */
	int			most;			/* that it keeps at a time */
	int			n;
	int			next;
	bool		more;			/* there may be rows beyond those kept */
} WordCursor;

extern void word_cursor_init(WordCursor *cursor, uint64 word, uint64 *row, int most);
extern void word_cursor_set(WordCursor *cursor, const ItemPointerData *tids, int n,
							bool more);
extern bool word_cursor_seek(IndexScanDesc scan, WordCursor *cursor, uint64 row);

/* The row that the cursor is at. */
static inline uint64
word_cursor_row(const WordCursor *cursor)
{
	return cursor->row[cursor->next];
}

#endif							/* SIMHASH_WORD_CURSOR_H */
