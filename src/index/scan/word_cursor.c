/*-------------------------------------------------------------------------
 *
 * word_cursor.c
 *		The rows that have a word, in order, some at a time
 *
 * The entries of a word are in the order of their rows, so a descent leads to the first
 * row from any one on: leaves between that nobody asks for are not read.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "bits.h"
#include "compat.h"
#include "index/scan/scan.h"
#include "index/scan/word_cursor.h"
#include "index/tree/descend.h"

/*
 * A cursor before the first row of a word; it keeps rows in the caller's array of `most`.
 */
void
word_cursor_init(WordCursor *cursor, uint64 word, uint64 *row, int most)
{
	*cursor = (WordCursor) {.word = word,.row = row,.most = most,.more = true};
}

/*
 * Keep the first of n rows, which are in no order; `more` tells whether the word has others
 * beyond these.
 */
static void
keep_rows(WordCursor *cursor, uint64 *rows, int n, bool more)
{
	qsort(rows, n, sizeof(uint64), bits_compare);
	cursor->n = Min(n, cursor->most);
	cursor->more = more || n > cursor->most;
	cursor->next = 0;
	memcpy(cursor->row, rows, cursor->n * sizeof(uint64));
}

/*
 * Begin with the rows of the first leaf, which somebody else has read: `more` tells whether
 * the word has others beyond.
 */
void
word_cursor_set(WordCursor *cursor, const ItemPointerData *tids, int n, bool more)
{
	uint64		rows[MAX_LEAF_ENTRIES];

	for (int i = 0; i < n; i++)
		rows[i] = tid_number(&tids[i]);
	keep_rows(cursor, rows, n, more);
}

static inline uint64
checked_row(Relation index, Buffer buffer, int i)
{
	const ItemPointerData *tid = leaf_tid(BufferGetPage(buffer), i);

	leaf_check_tid(index, buffer, tid);
	return tid_number(tid);
}

/*
 * Copy rows of a leaf, locked, from an entry on: at least all that will be kept.  Returns
 * their number.  What is out of order is damaged; it would lead a cursor back.
 */
static int
copy_rows(IndexScanDesc scan, const WordCursor *cursor, Buffer buffer, const Entry *from,
		  uint64 *rows)
{
	Page		page = BufferGetPage(buffer);
	const uint64 *keys = page_keys(page);
	int			nsorted = TreePageGetOpaque(page)->nsorted;
	int			nentries = page_nentries(page);
	uint64		first = tid_number(&from->tid);
	int			n = 0;
	int			i;

	test_for_old_snapshot(scan->xs_snapshot, scan->indexRelation, page);

	/* of those in order, one that is not kept tells that there are more */
	for (i = page_lower_bound(page, nsorted, from);
		 i < nsorted && keys[i] == cursor->word && n <= cursor->most; i++)
	{
		rows[n++] = checked_row(scan->indexRelation, buffer, i);
		if (rows[n - 1] < first)
			page_report_corruption(scan->indexRelation, BufferGetBlockNumber(buffer),
								   "its entries are not in order");
	}
	for (i = nsorted; i < nentries; i++)
	{
		if (keys[i] != cursor->word)
			continue;
		rows[n] = checked_row(scan->indexRelation, buffer, i);
		n += rows[n] >= first;
	}
	return n;
}

/*
 * Read the rows from one on.
 */
static void
read_from(IndexScanDesc scan, WordCursor *cursor, uint64 row)
{
	Entry		from = {cursor->word, tid_of_number(row)};
	uint64		rows[MAX_LEAF_ENTRIES];
	int			n;
	bool		more;

	do
	{
		Buffer		buffer;
		Page		page;

		CHECK_FOR_INTERRUPTS();
		buffer = descend_to(scan->indexRelation, WORDS_TREE, 0, &from, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buffer);
		n = copy_rows(scan, cursor, buffer, &from, rows);
		more = !page_is_rightmost(page) &&
			TreePageGetOpaque(page)->high_key == cursor->word;
		if (more)
			from = page_high(page);
		UnlockReleaseBuffer(buffer);
	} while (n == 0 && more);
	keep_rows(cursor, rows, n, more);
}

/*
 * Go on to the first row that is not before one, which is not before the row that the
 * cursor is at.  Returns false if there is none.
 */
bool
word_cursor_seek(IndexScanDesc scan, WordCursor *cursor, uint64 row)
{
	int			low = cursor->next;
	int			high = cursor->n;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (cursor->row[middle] < row)
			low = middle + 1;
		else
			high = middle;
	}
	cursor->next = low;
	if (low == cursor->n && cursor->more)
		read_from(scan, cursor, row);
	return cursor->next < cursor->n;
}
