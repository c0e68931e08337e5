/*-------------------------------------------------------------------------
 *
 * leaf_reader.c
 *		Reading ranges of keys, leaf by leaf
 *
 * The matches of one leaf are copied at a time, so that no lock is held while the executor
 * looks at rows.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "index/opclass.h"
#include "index/scan/leaf_reader.h"
#include "index/tree/descend.h"
#include "index/tree/link.h"

void
leaf_reader_init(LeafReader *reader, Relation index)
{
	memset(reader, 0, sizeof(LeafReader));
	reader->index = index;
	reader->pinned = InvalidBuffer;
	prefetch_init(&reader->prefetch, index);
}

/*
 * Release the leaf that is pinned, if there is one.
 */
void
leaf_reader_release(LeafReader *reader)
{
	if (BufferIsValid(reader->pinned))
		ReleaseBuffer(reader->pinned);
	reader->pinned = InvalidBuffer;
}

/*
 * Prepare for a scan, or for the same one anew.
 */
void
leaf_reader_reset(LeafReader *reader, Snapshot snapshot)
{
	leaf_reader_release(reader);
	reader->snapshot = snapshot;
	reader->ntids = 0;
	reader->nranges_read = reader->nleaves = 0;
}

/*
 * Start to read the ranges of a search.
 */
void
leaf_reader_start(LeafReader *reader, NextRange next_range, CollectMatches collect,
				  void *search)
{
	reader->next_range = next_range;
	reader->collect = collect;
	reader->search = search;
	reader->in_range = false;
	prefetch_reset(&reader->prefetch);
}

/*
 * Return the next of the keys or ranges that were given.  Returns false after the last one.
 */
static bool
next_given_range(void *search, KeyRange *range)
{
	LeafReader *reader = search;

	if (reader->next == reader->nranges)
		return false;
	if (reader->keys)
	{
		uint64		key = reader->keys[reader->next];

		*range = (KeyRange) {KEYS_TREE, 0, key, key};
	}
	else
		*range = reader->ranges[reader->next];
	reader->next++;
	return true;
}

static void
start_given_ranges(LeafReader *reader, const uint64 *keys, const KeyRange *ranges, int n)
{
	reader->keys = keys;
	reader->ranges = ranges;
	reader->nranges = n;
	reader->next = 0;
	leaf_reader_start(reader, next_given_range, NULL, reader);
}

/*
 * Start to read the postings of n keys.  The caller keeps the array.
 */
void
leaf_reader_start_keys(LeafReader *reader, const uint64 *keys, int n)
{
	start_given_ranges(reader, keys, NULL, n);
}

/*
 * Start to read n ranges.  The caller keeps the array.
 */
void
leaf_reader_start_ranges(LeafReader *reader, const KeyRange *ranges, int n)
{
	start_given_ranges(reader, NULL, ranges, n);
}

/*
 * Add the entries from `from` to `to` of a leaf, whatever their keys.  Unless all_new, skip
 * those that have been read.
 */
static void
collect_all(LeafReader *reader, Buffer buffer, int from, int to, bool all_new)
{
	const uint64 *keys = page_keys(BufferGetPage(buffer));

	for (int i = from; i < to; i++)
		if (keys[i] <= reader->range.high &&
			(all_new || leaf_reader_is_new(reader, buffer, i)))
			reader->tids[reader->ntids++] = *leaf_checked_tid(reader->index, buffer, i);
}

static inline void
collect(LeafReader *reader, Buffer buffer, int from, int to, bool all_new)
{
	if (reader->collect)
		reader->collect(reader, reader->search, buffer, from, to, all_new);
	else
		collect_all(reader, buffer, from, to, all_new);
}

/*
 * Read the matches of a leaf, locked, and where the range goes on.
 *
 * A snapshot too old is found out here: entries are removed from leaves only, and where
 * one leaf is merged into another, the other is changed after the removals from both.
 */
static void
read_leaf(LeafReader *reader, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	TreePageOpaque opaque = TreePageGetOpaque(page);
	int			nsorted = opaque->nsorted;
	int			n = page_nentries(page);
	Entry		low = page_low_key(page);
	bool		all_new = entry_compare(&reader->bound, &low) <= 0;
	Entry		beyond = entry_before(reader->range.high + 1);
	int			from = 0;
	int			to = nsorted;

	test_for_old_snapshot(reader->snapshot, reader->index, page);
	reader->nleaves++;
	if (!all_new)
		from = page_search(page, nsorted, &reader->bound);
	if (reader->range.high < ~UINT64CONST(0))
		to = page_search(page, nsorted, &beyond);
	collect(reader, buffer, from, to, true);
	if (nsorted < n)
		collect(reader, buffer, nsorted, n, all_new);

	reader->in_range = !page_is_rightmost(page) && opaque->high_key <= reader->range.high;
	if (reader->in_range)
	{
		reader->link = page_right_link(page);
		reader->bound = reader->link.low_key;
	}
}

/*
 * Go to the first leaf of the next range.  Returns it pinned and locked, or false after the
 * last range.
 */
static bool
next_range(LeafReader *reader, Buffer *buffer)
{
	if (!prefetch_next(&reader->prefetch, reader->index, reader->next_range,
					   reader->search, &reader->range, buffer))
		return false;
	reader->bound = entry_before(reader->range.low);
	reader->nranges_read++;
	return true;
}

/*
 * Read the next leaf, which may have no match.  Returns false after the last one.  If the
 * search then has ranges again, call this again.
 *
 * A snapshot that is not an MVCC one does not know a row that has taken the place of a
 * vacuumed one from the row it is looking for.  So, if keep_pin, the leaf stays pinned,
 * which holds vacuum up, until the next leaf is read and all rows have been looked at.
 */
bool
leaf_reader_read(LeafReader *reader)
{
	Buffer		buffer;

	leaf_reader_release(reader);
	reader->ntids = 0;

	CHECK_FOR_INTERRUPTS();
	if (reader->in_range)
		buffer = descend_follow(reader->index, &reader->link, InvalidBuffer,
								&reader->bound);
	else if (!next_range(reader, &buffer))
		return false;

	read_leaf(reader, buffer);
	if (reader->ntids > 0 && reader->keep_pin)
	{
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		reader->pinned = buffer;
	}
	else
		UnlockReleaseBuffer(buffer);
	return true;
}

/*
 * Read the next leaf that has matches.  Returns false after the last one.  Sets
 * reader->tids to the TIDs of the matches, and reader->range to their range, which is a
 * single key in a search for keys.
 */
bool
leaf_reader_next(LeafReader *reader)
{
	while (leaf_reader_read(reader))
		if (reader->ntids > 0)
			return true;
	return false;
}
