/*-------------------------------------------------------------------------
 *
 * posting_merge.c
 *		Index scans for rows with at least so many of the words sought
 *
 * The rows of all words are merged, in order: so each row comes with all words that it has,
 * and is found once, without memory of those before.  Where a row has to have two words or
 * more, most rows are passed over unread: if it takes T words, then no row before the one
 * that the T-th cursor is at can have as many, wherever the first T - 1 go.  This is
 * MergeSkip, of Li, Lu and Lu, "Efficient merging and filtering algorithms for approximate
 * string searches", 2008.  A word that stands in very many rows is read only near those of
 * the others; where a row has to have all words, the rarest leads.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"

#include "compat.h"
#include "index/scan/posting_cursor.h"
#include "index/scan/scan.h"

/* The fewest rows that a cursor keeps at a time. */
#define FEWEST_ROWS		8

struct MergedSearch
{
	MemoryContext context;
	const uint64 *words;
	int			n;
	int			least;			/* words that a row has to have */
	int			most;			/* rows that a cursor keeps at a time */
	binaryheap *heap;			/* cursors, that of the first row on top; NULL: not begun */
	PostingCursor **taken;			/* from the heap, to go farther */
};

/*
 * Prepare a search for rows with at least so many of n words.  Returns NULL if so many
 * cannot be merged within work_mem.
 */
MergedSearch *
merged_create(MemoryContext context, const uint64 *words, int n, int least)
{
	/* of each, beside the rows: the cursor, and links to it from the heap and `taken` */
	double		bytes = work_mem * 1024.0 / n - sizeof(PostingCursor) - 2 * sizeof(PostingCursor *);
	int			most = Min(bytes / sizeof(uint64), MAX_LEAF_ENTRIES);
	MergedSearch *search;

	if (most < FEWEST_ROWS)
		return NULL;
	search = MemoryContextAllocZero(context, sizeof(MergedSearch));
	search->context = context;
	search->words = words;
	search->n = n;
	search->least = least;
	search->most = most;
	return search;
}

/* The first row on top. */
static int
compare_cursors(Datum a, Datum b, void *context)
{
	uint64		row = posting_cursor_tid((const PostingCursor *) DatumGetPointer(a));
	uint64		other = posting_cursor_tid((const PostingCursor *) DatumGetPointer(b));

	return (row < other) - (row > other);
}

/*
 * Read the first rows of each word that any row has.
 */
static void
begin_merging(IndexScanDesc scan, MergedSearch *search)
{
	SimHashScan *state = scan->opaque;
	MemoryContext old_context = MemoryContextSwitchTo(search->context);
	PostingCursor *cursors = MemoryContextAllocHuge(search->context,
												 search->n * sizeof(PostingCursor));
	uint64	   *rows = MemoryContextAllocHuge(search->context,
											  (Size) search->n * search->most * sizeof(uint64));
	int			n = 0;

	search->heap = binaryheap_allocate(search->n, compare_cursors, NULL);
	search->taken = MemoryContextAllocHuge(search->context,
										   search->n * sizeof(PostingCursor *));
	MemoryContextSwitchTo(old_context);
	words_begin_reading(state, search->words, search->n);
	while (words_read_on(scan))
	{
		PostingCursor *cursor = &cursors[n];

		posting_cursor_init(cursor, state->range.low, rows + (Size) n++ * search->most,
						 search->most);
		posting_cursor_set(cursor, state->matches, state->nmatches, state->in_range);
		state->in_range = false;
		binaryheap_add_unordered(search->heap, PointerGetDatum(cursor));
	}
	binaryheap_build(search->heap);
}

static inline PostingCursor *
first_cursor(const MergedSearch *search)
{
	return (PostingCursor *) DatumGetPointer(binaryheap_first(search->heap));
}

/*
 * Find the next row.  Returns false if there is none.
 */
static bool
next_row(IndexScanDesc scan, MergedSearch *search, uint64 *row)
{
	while (search->heap->bh_size >= search->least)
	{
		bool		found;
		uint64		next;
		int			n = 0;

		CHECK_FOR_INTERRUPTS();
		*row = posting_cursor_tid(first_cursor(search));
		do
			search->taken[n++] = (PostingCursor *) DatumGetPointer(binaryheap_remove_first(search->heap));
		while (!binaryheap_empty(search->heap) && posting_cursor_tid(first_cursor(search)) == *row);

		found = n >= search->least;
		while (n < search->least - 1)
			search->taken[n++] = (PostingCursor *) DatumGetPointer(binaryheap_remove_first(search->heap));
		next = found ? *row + 1 : posting_cursor_tid(first_cursor(search));
		while (n-- > 0)
			if (posting_cursor_seek(scan->indexRelation, scan->xs_snapshot, search->taken[n], next))
				binaryheap_add(search->heap, PointerGetDatum(search->taken[n]));
		if (found)
			return true;
	}
	return false;
}

/*
 * The next rows.  Returns false after the last ones.
 */
bool
merged_take(IndexScanDesc scan, MergedSearch *search)
{
	SimHashScan *state = scan->opaque;
	int			n = 0;
	uint64		row;

	if (search->heap == NULL)
		begin_merging(scan, search);
	while (n < MAX_LEAF_ENTRIES && next_row(scan, search, &row))
		state->matches[n++] = tid_of_number(row);
	state->nmatches = n;
	state->next_match = 0;
	return n > 0;
}
