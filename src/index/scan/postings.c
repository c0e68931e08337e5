/*
 * Read the postings of keys in TID order: cursors, and their merge
 *
 * The tree sorts the entries of a key by TID.  So a descent leads to the first TID that is
 * not less than a given TID.  A cursor does not read the leaves that it skips.
 *
 * A merge finds the TIDs that occur under at least min_match of n keys.  This is the
 * T-occurrence problem, with T = min_match.  The merge advances the cursors of all keys
 * together, in TID order.  So it finds all keys of a TID at once, and needs no memory of
 * previous TIDs.
 *
 * If T > 1, the merge skips most TIDs unread.  A binary heap sorts the cursors by their TIDs.
 * Only the first T - 1 cursors can have a TID less than the TID of the T-th cursor.  So no
 * such TID occurs under T keys, and these cursors skip to the TID of the T-th cursor.  This is
 * MergeSkip, of Li, Lu and Lu, "Efficient merging and filtering algorithms for approximate
 * string searches", 2008.
 *
 * A TID under T keys occurs under at least one of any n - T + 1.  So if as many postings are found
 * that end on their first leaf, only these are merged, and the other keys are looked up for each of
 * their TIDs.  This is their DivideSkip, but every TID is a candidate.  If as many are short, the
 * other keys need no cursor before a candidate is looked up.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"

#include "bits.h"
#include "compat.h"
#include "index/scan/scans.h"

/* --- cursors ------------------------------------------------------------------- */

/*
 * Initialize a cursor before the first TID of a key.  The cursor copies TIDs to the
 * caller's array `tid` of length `max`.
 */
void
posting_cursor_init(PostingCursor *cursor, uint64 key, uint64 *tid, int max)
{
	*cursor = (PostingCursor) {.key = key,.tid = tid,.max = max,.more = true};
}

/*
 * Sort n TIDs in place, and copy the first cursor->max of them to the cursor.  `more` is
 * true if the key may have TIDs after these n TIDs.
 */
static void
keep_tids(PostingCursor *cursor, uint64 *tids, int n, bool more)
{
	qsort(tids, n, sizeof(uint64), bits_compare);
	cursor->n = Min(n, cursor->max);
	cursor->more = more || n > cursor->max;
	cursor->next = 0;
	memcpy(cursor->tid, tids, cursor->n * sizeof(uint64));
}

/*
 * Copy TIDs >= from->tid of the cursor's key from a leaf to `tids`.  Returns their
 * number.  Of the sorted entries, copies at most the first cursor->max + 1 TIDs.  Of the
 * unsorted entries at the end of the leaf, copies all TIDs.  The length of tids is
 * MAX_LEAF_ENTRIES.  The caller holds the lock of the leaf.
 *
 * Raises an error if the snapshot is too old.  Also raises an error if one of the sorted
 * entries that follow `from` has a TID < from->tid.  In that case the index is damaged,
 * because its entries are not in order.  Such a TID would move the cursor backward.
 */
static int
copy_tids(const LeafReader *reader, const PostingCursor *cursor, Buffer buffer,
		  const Entry *from, uint64 *tids)
{
	Page		page = BufferGetPage(buffer);
	const uint64 *keys = page_keys(page);
	int			nsorted = TreePageGetOpaque(page)->nsorted;
	int			nentries = page_nentries(page);
	uint64		first = tid_number(&from->tid);
	int			n = 0;
	int			i;

	TestForOldSnapshot(reader->snapshot, reader->index, page);

	/* copy one sorted entry too many, so that keep_tids sets `more` */
	for (i = page_search(page, nsorted, from);
		 i < nsorted && keys[i] == cursor->key && n <= cursor->max; i++)
	{
		tids[n++] = tid_number(leaf_checked_tid(reader->index, buffer, i));
		if (tids[n - 1] < first)
			page_report_corruption(reader->index, BufferGetBlockNumber(buffer),
								   "its entries are not in order");
	}
	for (i = nsorted; i < nentries; i++)
	{
		if (keys[i] != cursor->key)
			continue;
		tids[n] = tid_number(leaf_checked_tid(reader->index, buffer, i));
		n += tids[n] >= first;
	}
	return n;
}

/*
 * Copy the first TIDs >= tid of the cursor's key from the tree to the cursor.  Locks one
 * leaf at a time and leaves nothing locked.
 */
static void
read_tids_from(const LeafReader *reader, PostingCursor *cursor, uint64 tid)
{
	ItemPointerData first = tid_of_number(tid);
	Entry		from = make_entry(cursor->key, &first);
	uint64		tids[MAX_LEAF_ENTRIES];
	int			n;
	bool		more;

	do
	{
		Buffer		buffer;
		Page		page;

		CHECK_FOR_INTERRUPTS();
		buffer = descend_to(reader->index, KEYS_TREE, 0, &from, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buffer);
		n = copy_tids(reader, cursor, buffer, &from, tids);
		more = !page_is_rightmost(page) &&
			TreePageGetOpaque(page)->high_key == cursor->key;
		if (more)
			from = page_high_key(page);
		UnlockReleaseBuffer(buffer);
	} while (n == 0 && more);
	keep_tids(cursor, tids, n, more);
}

/*
 * Advance the cursor to the first TID >= tid.  tid must not be less than the TID at the
 * cursor's position.  Returns false if the key has no TID >= tid.  Of the reader, uses the
 * index and the snapshot only.  Locks one leaf at a time and leaves nothing locked.
 */
bool
posting_cursor_seek(const LeafReader *reader, PostingCursor *cursor, uint64 tid)
{
	int			low = cursor->next;
	int			high = cursor->n;

	FIND_FIRST(low, high, i, cursor->tid[i] < tid);
	cursor->next = low;
	if (low == cursor->n && cursor->more)
		read_tids_from(reader, cursor, tid);
	return cursor->next < cursor->n;
}

/* --- merge ---------------------------------------------------------------------- */

/* Minimum number of TIDs that a cursor must be able to copy at a time. */
#define MIN_TIDS		8

/* Maximum number of TIDs of short postings. */
#define SHORT_TIDS		32

struct PostingMerge
{
	MemoryContext context;
	LeafReader *reader;
	const uint64 *keys;
	int			n;
	int			min_match;		/* minimum number of keys of a match (T) */
	bool		lossy;			/* true if TIDs that probably match suffice */
	int			max_tids;		/* maximum number of TIDs that a cursor copies at
								 * a time */
	binaryheap *heap;			/* binary heap of cursors, with the least TID on
								 * top.  NULL before the first
								 * posting_merge_next(). */
	int			heap_match;		/* minimum number of keys in the heap of a candidate */
	PostingCursor **removed;	/* cursors removed from the binary heap, to be
								 * advanced */
	PostingCursor **others;		/* cursors that are not merged, but looked up */
	int			nothers;
};

/*
 * Create a search for the TIDs that occur under at least min_match of n keys.  If `lossy` is
 * true, it may also find TIDs that occur under fewer.  Returns NULL if the n cursors do not fit
 * into work_mem.  The array of keys must stay valid until the search ends.
 */
PostingMerge *
posting_merge_create(MemoryContext context, LeafReader *reader, const uint64 *keys, int n,
					 int min_match, bool lossy)
{
	/*
	 * memory of each key for its TIDs, in bytes: its share of work_mem, minus a cursor
	 * and two pointers to the cursor
	 */
	double		bytes = work_mem * 1024.0 / n - sizeof(PostingCursor) -
		2 * sizeof(PostingCursor *);
	int			max_tids = Min(bytes / sizeof(uint64), MAX_LEAF_ENTRIES);
	PostingMerge *merge;

	if (max_tids < MIN_TIDS)
		return NULL;
	merge = MemoryContextAllocZero(context, sizeof(PostingMerge));
	merge->context = context;
	merge->reader = reader;
	merge->keys = keys;
	merge->n = n;
	merge->min_match = min_match;
	merge->lossy = lossy;
	merge->max_tids = max_tids;
	return merge;
}

/*
 * Compare two cursors by descending TID.  A binary heap has the greatest element on top.
 * In this order, that is the cursor with the least TID.
 */
static int
compare_cursors(Datum a, Datum b, void *context)
{
	uint64		tid = posting_cursor_tid((const PostingCursor *) DatumGetPointer(a));
	uint64		other = posting_cursor_tid((const PostingCursor *) DatumGetPointer(b));

	return (tid < other) - (tid > other);
}

/* Compare two cursors by the length of their postings, as far as they are read. */
static int
compare_lengths(const void *a, const void *b)
{
	const PostingCursor *left = *(PostingCursor *const *) a;
	const PostingCursor *right = *(PostingCursor *const *) b;

	return left->more != right->more ? left->more - right->more : left->n - right->n;
}

/*
 * Open cursors at the first TIDs of the keys, until n - T + 1 have short postings, which may be
 * empty.  Adds these to the binary heap.  If there are fewer, adds the n - T + 1 with the shortest
 * postings, or all cursors if one of these continues on another leaf.
 */
static void
open_cursors(PostingMerge *merge)
{
	LeafReader *reader = merge->reader;
	MemoryContext old_context = MemoryContextSwitchTo(merge->context);
	int			nneeded = merge->n - merge->min_match + 1;
	Size		size = merge->n * sizeof(PostingCursor *);
	PostingCursor *cursors = MemoryContextAllocHuge(merge->context,
													merge->n * sizeof(PostingCursor));
	uint64	   *tids = MemoryContextAllocHuge(merge->context,
											  (Size) merge->n * merge->max_tids * sizeof(uint64));
	int			nread = 0;

	merge->heap = binaryheap_allocate(merge->n, compare_cursors, NULL);
	merge->removed = MemoryContextAllocHuge(merge->context, size);
	merge->others = MemoryContextAllocHuge(merge->context, size);
	MemoryContextSwitchTo(old_context);
	for (int i = 0; i < merge->n; i++)
		posting_cursor_init(&cursors[i], merge->keys[i], tids + (Size) i * merge->max_tids,
							merge->max_tids);
	while (nneeded > 0 && nread < merge->n)
	{
		/* read as many keys as are needed, so that the reader prefetches no others */
		leaf_reader_start_keys(reader, merge->keys + nread, Min(nneeded, merge->n - nread));
		while (leaf_reader_read(reader))
		{
			PostingCursor *cursor = &cursors[nread];
			uint64		first[MAX_LEAF_ENTRIES];

			if (reader->ntids == 0 && reader->in_range)
				continue;
			nread++;
			for (int i = 0; i < reader->ntids; i++)
				first[i] = tid_number(&reader->tids[i]);
			keep_tids(cursor, first, reader->ntids, reader->in_range);
			reader->in_range = false;
			if (cursor->more || cursor->n > SHORT_TIDS)
			{
				merge->others[merge->nothers++] = cursor;
				continue;
			}
			nneeded--;
			if (cursor->n > 0)
				binaryheap_add_unordered(merge->heap, PointerGetDatum(cursor));
		}
	}
	while (nread < merge->n)
		merge->others[merge->nothers++] = &cursors[nread++];
	merge->heap_match = 1;
	if (nneeded > 0)
	{
		qsort(merge->others, merge->nothers, sizeof(PostingCursor *), compare_lengths);
		if (merge->others[nneeded - 1]->more)
		{
			merge->heap_match = merge->min_match;
			nneeded = merge->nothers;
		}
		merge->nothers -= nneeded;
		while (nneeded-- > 0)
			binaryheap_add_unordered(merge->heap, PointerGetDatum(*merge->others++));
	}
	binaryheap_build(merge->heap);
}

/* Return the cursor with the least TID. */
static inline PostingCursor *
first_cursor(const PostingMerge *merge)
{
	return (PostingCursor *) DatumGetPointer(binaryheap_first(merge->heap));
}

/* Remove the cursor with the least TID from the binary heap, and return it. */
static inline PostingCursor *
remove_first_cursor(PostingMerge *merge)
{
	return (PostingCursor *) DatumGetPointer(binaryheap_remove_first(merge->heap));
}

/*
 * Look up which of the other keys a candidate occurs under, and add their number to *hits.
 * Returns false if the candidate occurs under fewer than min_match keys.  If `lossy` is true,
 * returns true as soon as the candidate occurs under the fraction min_match / n of the keys that
 * have been looked at.
 */
static bool
look_up_others(PostingMerge *merge, uint64 tid, int *hits)
{
	int			nlooked = merge->n - merge->nothers;

	for (int i = 0; i < merge->nothers; i++, nlooked++)
	{
		PostingCursor *cursor = merge->others[i];

		if (*hits + merge->nothers - i < merge->min_match)
			return false;
		if (merge->lossy && (int64) *hits * merge->n >= (int64) merge->min_match * nlooked)
			return true;
		if (posting_cursor_seek(merge->reader, cursor, tid))
			*hits += posting_cursor_tid(cursor) == tid;
	}
	return *hits >= merge->min_match;
}

/*
 * Set *tid to the next TID that occurs under at least min_match keys, and *hits to their number.
 * Returns false after the last TID.
 */
static bool
find_next_tid(PostingMerge *merge, uint64 *tid, int *hits)
{
	while (merge->heap->bh_size >= merge->heap_match)
	{
		uint64		next;
		int			n = 0;

		CHECK_FOR_INTERRUPTS();
		*tid = posting_cursor_tid(first_cursor(merge));
		do
			merge->removed[n++] = remove_first_cursor(merge);
		while (!binaryheap_empty(merge->heap) &&
			   posting_cursor_tid(first_cursor(merge)) == *tid);

		*hits = n;
		while (n < merge->heap_match - 1)
			merge->removed[n++] = remove_first_cursor(merge);
		next = *hits >= merge->heap_match ? *tid + 1 : posting_cursor_tid(first_cursor(merge));
		while (n-- > 0)
			if (posting_cursor_seek(merge->reader, merge->removed[n], next))
				binaryheap_add(merge->heap, PointerGetDatum(merge->removed[n]));
		if (*hits >= merge->heap_match && look_up_others(merge, *tid, hits))
			return true;
	}
	return false;
}

/*
 * Set reader->tids to the next TIDs that occur under at least min_match keys, in
 * ascending order.  Unless `hits` is NULL, sets hits[i] to the number of keys under which
 * the i-th occurs.  Returns false after the last TID.  Locks one leaf at a time and leaves
 * nothing locked.
 */
bool
posting_merge_next(PostingMerge *merge, int *hits)
{
	LeafReader *reader = merge->reader;
	int			n = 0;
	int			nhits;
	uint64		tid;

	if (merge->heap == NULL)
		open_cursors(merge);
	while (n < MAX_LEAF_ENTRIES && find_next_tid(merge, &tid, &nhits))
	{
		if (hits)
			hits[n] = nhits;
		reader->tids[n++] = tid_of_number(tid);
	}
	reader->ntids = n;
	return n > 0;
}
