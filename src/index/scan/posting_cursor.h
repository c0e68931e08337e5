/*-------------------------------------------------------------------------
 *
 * posting_cursor.h
 *		The TIDs of a key, in order, some at a time
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_POSTING_CURSOR_H
#define SIMHASH_POSTING_CURSOR_H

#include "storage/itemptr.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* TIDs are tid_numbers. */
typedef struct PostingCursor
{
	uint64		key;
	uint64	   *tid;			/* the TIDs kept, ascending */
	int			max;			/* how many it keeps at a time */
	int			n;
	int			next;
	bool		more;			/* there may be TIDs beyond those kept */
} PostingCursor;

extern void posting_cursor_init(PostingCursor *cursor, uint64 key, uint64 *tid, int max);
extern void posting_cursor_set(PostingCursor *cursor, const ItemPointerData *tids, int n,
							   bool more);
extern bool posting_cursor_seek(Relation index, Snapshot snapshot, PostingCursor *cursor,
								uint64 tid);

/* The TID at which the cursor is. */
static inline uint64
posting_cursor_tid(const PostingCursor *cursor)
{
	return cursor->tid[cursor->next];
}

#endif							/* SIMHASH_POSTING_CURSOR_H */
