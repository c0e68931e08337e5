/*-------------------------------------------------------------------------
 *
 * posting_cursor.h
 *		Cursor over the postings of a key, in TID order
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

/* A cursor over the postings of a key.  It copies at most `max` TIDs at a time. */
typedef struct PostingCursor
{
	uint64		key;
	uint64	   *tid;			/* copied TIDs, each a tid_number(), ascending */
	int			max;			/* length of the array tid */
	int			n;				/* number of copied TIDs */
	int			next;			/* index in tid of the cursor's position */
	bool		more;			/* true if the key may have TIDs after the
								 * copied TIDs */
} PostingCursor;

extern void posting_cursor_init(PostingCursor *cursor, uint64 key, uint64 *tid, int max);
extern void posting_cursor_set(PostingCursor *cursor, const ItemPointerData *tids, int n,
							   bool more);
extern bool posting_cursor_seek(Relation index, Snapshot snapshot, PostingCursor *cursor,
								uint64 tid);

/* Return the TID at the cursor's position, as a tid_number().  There must be one. */
static inline uint64
posting_cursor_tid(const PostingCursor *cursor)
{
	return cursor->tid[cursor->next];
}

#endif							/* SIMHASH_POSTING_CURSOR_H */
