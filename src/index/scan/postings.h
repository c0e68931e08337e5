/*
 * Read the postings of keys in TID order: cursors, and their merge
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_POSTINGS_H
#define SIMHASH_POSTINGS_H

#include "index/scan/leaf_reader.h"

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
extern bool posting_cursor_seek(const LeafReader *reader, PostingCursor *cursor, uint64 tid);

/* Return the TID at the cursor's position, as a tid_number().  There must be one. */
static inline uint64
posting_cursor_tid(const PostingCursor *cursor)
{
	return cursor->tid[cursor->next];
}

typedef struct PostingMerge PostingMerge;

extern PostingMerge *posting_merge_create(MemoryContext context, LeafReader *reader,
										  const uint64 *keys, int n, int min_match, bool lossy);
extern bool posting_merge_next(PostingMerge *merge, int *hits);

#endif							/* SIMHASH_POSTINGS_H */
