/*-------------------------------------------------------------------------
 *
 * posting_cursor.c
 *		Cursor over the postings of a key, in TID order
 *
 * The tree sorts the entries of a key by TID.  So a descent leads to the first TID that is
 * not less than a given TID.  The cursor does not read the leaves that it skips.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "bits.h"
#include "compat.h"
#include "index/opclass.h"
#include "index/scan/posting_cursor.h"
#include "index/tree/descend.h"

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
 * Position a cursor at the least of n TIDs, which may be in any order.  The caller has
 * read the TIDs from the first leaf with postings of the key.  `more` is true if the key
 * may have TIDs on the leaves to the right.  n is at most MAX_LEAF_ENTRIES.
 */
void
posting_cursor_set(PostingCursor *cursor, const ItemPointerData *tids, int n, bool more)
{
	uint64		numbers[MAX_LEAF_ENTRIES];

	for (int i = 0; i < n; i++)
		numbers[i] = tid_number(&tids[i]);
	keep_tids(cursor, numbers, n, more);
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
copy_tids(Relation index, Snapshot snapshot, const PostingCursor *cursor, Buffer buffer,
		  const Entry *from, uint64 *tids)
{
	Page		page = BufferGetPage(buffer);
	const uint64 *keys = page_keys(page);
	int			nsorted = TreePageGetOpaque(page)->nsorted;
	int			nentries = page_nentries(page);
	uint64		first = tid_number(&from->tid);
	int			n = 0;
	int			i;

	test_for_old_snapshot(snapshot, index, page);

	/* copy one sorted entry too many, so that keep_tids sets `more` */
	for (i = page_search(page, nsorted, from);
		 i < nsorted && keys[i] == cursor->key && n <= cursor->max; i++)
	{
		tids[n++] = tid_number(leaf_checked_tid(index, buffer, i));
		if (tids[n - 1] < first)
			page_report_corruption(index, BufferGetBlockNumber(buffer),
								   "its entries are not in order");
	}
	for (i = nsorted; i < nentries; i++)
	{
		if (keys[i] != cursor->key)
			continue;
		tids[n] = tid_number(leaf_checked_tid(index, buffer, i));
		n += tids[n] >= first;
	}
	return n;
}

/*
 * Copy the first TIDs >= tid of the cursor's key from the tree to the cursor.  Locks one
 * leaf at a time and leaves nothing locked.
 */
static void
read_tids_from(Relation index, Snapshot snapshot, PostingCursor *cursor, uint64 tid)
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
		buffer = descend_to(index, KEYS_TREE, 0, &from, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buffer);
		n = copy_tids(index, snapshot, cursor, buffer, &from, tids);
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
 * cursor's position.  Returns false if the key has no TID >= tid.  Locks one leaf at a
 * time and leaves nothing locked.
 */
bool
posting_cursor_seek(Relation index, Snapshot snapshot, PostingCursor *cursor, uint64 tid)
{
	int			low = cursor->next;
	int			high = cursor->n;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (cursor->tid[middle] < tid)
			low = middle + 1;
		else
			high = middle;
	}
	cursor->next = low;
	if (low == cursor->n && cursor->more)
		read_tids_from(index, snapshot, cursor, tid);
	return cursor->next < cursor->n;
}
