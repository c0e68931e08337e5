/*-------------------------------------------------------------------------
 *
 * posting_merge.c
 *		Rows with at least so many of some keys
 *
 * The postings of all keys are merged, in the order of TIDs.  So each TID comes with all
 * keys that it has, and is found once, without memory of those before.  If a row has to
 * have two keys or more, most TIDs are passed over unread: if it takes T keys, then no TID
 * before that of the T-th cursor can have as many, wherever the first T - 1 go.  This is
 * MergeSkip, of Li, Lu and Lu, "Efficient merging and filtering algorithms for approximate
 * string searches", 2008.  A key that stands in very many rows is read only near those of
 * the others.  If a row has to have all keys, the rarest key leads.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"

#include "index/scan/posting_cursor.h"
#include "index/scan/posting_merge.h"

/* The fewest TIDs that a cursor keeps at a time. */
#define FEWEST_TIDS		8

struct PostingMerge
{
	MemoryContext context;
	LeafReader *reader;
	const uint64 *keys;
	int			n;
	int			min_match;		/* keys that a row has to have */
	int			max_tids;		/* that a cursor keeps at a time */
	binaryheap *heap;			/* cursors, that of the first TID on top; NULL: not begun */
	PostingCursor **taken;		/* from the heap, to go farther */
};

/*
 * Prepare a search for rows with at least min_match of n keys.  Returns NULL if so many
 * cannot be merged within work_mem.  The caller keeps the array of keys.
 */
PostingMerge *
posting_merge_create(MemoryContext context, LeafReader *reader, const uint64 *keys, int n,
					 int min_match)
{
	/* of each, beside the TIDs: the cursor, and links to it from the heap and `taken` */
	double		bytes = work_mem * 1024.0 / n - sizeof(PostingCursor) -
		2 * sizeof(PostingCursor *);
	int			max_tids = Min(bytes / sizeof(uint64), MAX_LEAF_ENTRIES);
	PostingMerge *merge;

	if (max_tids < FEWEST_TIDS)
		return NULL;
	merge = MemoryContextAllocZero(context, sizeof(PostingMerge));
	merge->context = context;
	merge->reader = reader;
	merge->keys = keys;
	merge->n = n;
	merge->min_match = min_match;
	merge->max_tids = max_tids;
	return merge;
}

/* The first TID on top. */
static int
compare_cursors(Datum a, Datum b, void *context)
{
	uint64		tid = posting_cursor_tid((const PostingCursor *) DatumGetPointer(a));
	uint64		other = posting_cursor_tid((const PostingCursor *) DatumGetPointer(b));

	return (tid < other) - (tid > other);
}

/*
 * Read the first TIDs of each key that any row has.
 */
static void
begin_merging(PostingMerge *merge)
{
	LeafReader *reader = merge->reader;
	MemoryContext old_context = MemoryContextSwitchTo(merge->context);
	PostingCursor *cursors = MemoryContextAllocHuge(merge->context,
													merge->n * sizeof(PostingCursor));
	uint64	   *tids = MemoryContextAllocHuge(merge->context,
											  (Size) merge->n * merge->max_tids * sizeof(uint64));
	int			n = 0;

	merge->heap = binaryheap_allocate(merge->n, compare_cursors, NULL);
	merge->taken = MemoryContextAllocHuge(merge->context,
										  merge->n * sizeof(PostingCursor *));
	MemoryContextSwitchTo(old_context);
	leaf_reader_start_keys(reader, merge->keys, merge->n);
	while (leaf_reader_next(reader))
	{
		PostingCursor *cursor = &cursors[n];

		posting_cursor_init(cursor, reader->range.low, tids + (Size) n++ * merge->max_tids,
							merge->max_tids);
		posting_cursor_set(cursor, reader->tids, reader->ntids, reader->in_range);
		reader->in_range = false;
		binaryheap_add_unordered(merge->heap, PointerGetDatum(cursor));
	}
	binaryheap_build(merge->heap);
}

static inline PostingCursor *
first_cursor(const PostingMerge *merge)
{
	return (PostingCursor *) DatumGetPointer(binaryheap_first(merge->heap));
}

static inline PostingCursor *
remove_first_cursor(PostingMerge *merge)
{
	return (PostingCursor *) DatumGetPointer(binaryheap_remove_first(merge->heap));
}

/*
 * Find the next row.  Returns false if there is none.
 */
static bool
find_next_tid(PostingMerge *merge, uint64 *tid)
{
	LeafReader *reader = merge->reader;

	while (merge->heap->bh_size >= merge->min_match)
	{
		bool		found;
		uint64		next;
		int			n = 0;

		CHECK_FOR_INTERRUPTS();
		*tid = posting_cursor_tid(first_cursor(merge));
		do
			merge->taken[n++] = remove_first_cursor(merge);
		while (!binaryheap_empty(merge->heap) &&
			   posting_cursor_tid(first_cursor(merge)) == *tid);

		found = n >= merge->min_match;
		while (n < merge->min_match - 1)
			merge->taken[n++] = remove_first_cursor(merge);
		next = found ? *tid + 1 : posting_cursor_tid(first_cursor(merge));
		while (n-- > 0)
			if (posting_cursor_seek(reader->index, reader->snapshot, merge->taken[n], next))
				binaryheap_add(merge->heap, PointerGetDatum(merge->taken[n]));
		if (found)
			return true;
	}
	return false;
}

/*
 * Put the TIDs of the next rows into the reader.  Returns false after the last ones.
 */
bool
posting_merge_next(PostingMerge *merge)
{
	LeafReader *reader = merge->reader;
	int			n = 0;
	uint64		tid;

	if (merge->heap == NULL)
		begin_merging(merge);
	while (n < MAX_LEAF_ENTRIES && find_next_tid(merge, &tid))
		reader->tids[n++] = tid_of_number(tid);
	reader->ntids = n;
	return n > 0;
}
