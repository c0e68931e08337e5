/*
 * Read ranges of keys, leaf by leaf, and prefetch the leaves of the next ranges
 *
 * The reader copies the matches of one leaf at a time.  So it holds no lock while the
 * executor fetches and checks heap tuples.
 *
 * A range is a probe of a search, which knows its probes before it reads their leaves.
 * Inner pages are only a few thousandths of an index, so they are usually cached.  So the
 * reader can find the leaves of the next probes early.  If a leaf is not in shared buffers,
 * the operating system prefetches it.  If the leaf is in shared buffers, the processor
 * prefetches it into its own cache.  The number of probes to prefetch is
 * effective_io_concurrency of the tablespace, but at most PREFETCH_MAX.
 *
 * Before the search reads its first probe, nothing is prefetched, because many searches end
 * with that probe.
 *
 * Why each entry is read once.  The page found may begin before the bound: the page that
 * was meant may have been merged into a page that the reader has read.  So a reader reads
 * the entries from its bound on, by key and TID, and then the high key of the page becomes
 * its bound.  The TID is needed because one key may stand on both pages.  While the page is
 * locked it contains, by invariant 2 of src/index/README.md, all entries from the bound up
 * to its high key.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "compat.h"
#include "index/scan/scans.h"

/*
 * Initialize a reader of an index.
 */
void
leaf_reader_init(LeafReader *reader, Relation index)
{
	memset(reader, 0, sizeof(LeafReader));
	reader->index = index;
	reader->pinned = InvalidBuffer;
	reader->prefetch.maximum = Min(get_tablespace_io_concurrency(index->rd_rel->reltablespace),
								   PREFETCH_MAX);
}

/*
 * Release the pin of the leaf that the reader keeps pinned, if there is one.
 */
void
leaf_reader_release(LeafReader *reader)
{
	if (BufferIsValid(reader->pinned))
		ReleaseBuffer(reader->pinned);
	reader->pinned = InvalidBuffer;
}

/*
 * Prepare for a scan or a rescan with this snapshot.  Releases a pinned leaf.
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
 * Add the TIDs of all entries in the range to reader->tids (a CollectMatches).
 */
static void
collect_all(LeafReader *reader, void *search, Buffer buffer, int from, int to, bool bound_met)
{
	const uint64 *keys = page_keys(BufferGetPage(buffer));

	for (int i = from; i < to; i++)
		if (keys[i] <= reader->range.high &&
			(bound_met || leaf_reader_meets_bound(reader, buffer, i)))
			reader->tids[reader->ntids++] = *leaf_checked_tid(reader->index, buffer, i);
}

/*
 * Start to read the ranges of a search.  next_range(search) returns the ranges, one at a
 * time.  `collect` adds the matches of a leaf to reader->tids.  If `collect` is NULL, all
 * entries of the ranges match.
 */
void
leaf_reader_start(LeafReader *reader, NextRange next_range, CollectMatches collect,
				  void *search)
{
	reader->next_range = next_range;
	reader->collect = collect ? collect : collect_all;
	reader->search = search;
	reader->in_range = false;
	reader->prefetch.target = reader->prefetch.first = reader->prefetch.n = 0;
}

/*
 * Fetch the next range of the reader's array (NextRange).  In an array of keys, each key is a
 * range.  Returns false after the last range.
 */
static bool
next_array_range(void *search, KeyRange *range)
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

/*
 * Start to read the postings of n keys of a multi-key index.  The array must stay valid
 * until the search ends.
 */
void
leaf_reader_start_keys(LeafReader *reader, const uint64 *keys, int n)
{
	leaf_reader_start_ranges(reader, NULL, n);
	reader->keys = keys;
}

/*
 * Start to read n ranges.  The array must stay valid until the search ends.
 */
void
leaf_reader_start_ranges(LeafReader *reader, const KeyRange *ranges, int n)
{
	reader->keys = NULL;
	reader->ranges = ranges;
	reader->nranges = n;
	reader->next = 0;
	leaf_reader_start(reader, next_array_range, NULL, reader);
}

/* Maximum number of leaves to prefetch in a range.  Few ranges have more leaves. */
#define MAX_LEAVES	8

/* Number of keys in a cache line. */
#define KEYS_PER_LINE	(64 / sizeof(uint64))

/*
 * Prefetch the keys around the position that a search for a key will look at first, among
 * n entries of a leaf whose keys are from `first` to `end`.
 */
static void
prefetch_keys(Page leaf, uint64 first, uint64 end, int n, uint64 key)
{
	const uint64 *guess = &page_keys(leaf)[guess_position(first, end, n, key)];

	pg_prefetch(guess - KEYS_PER_LINE);
	pg_prefetch(guess);
	pg_prefetch(guess + KEYS_PER_LINE);
}

/*
 * Find the first leaves of a probe's range, at most MAX_LEAVES, and prefetch them.  The
 * caller must not hold a lock on any page.
 */
static void
prefetch_leaves(PrefetchProbe *probe, Relation index)
{
	PageLink	leaves[MAX_LEAVES];
	uint64		end;
	int			n = descend_find_leaves(index, probe->range.table, probe->range.low,
										probe->range.high, leaves, MAX_LEAVES, &end);

	for (int i = 0; i < n; i++)
	{
		int			nentries;
		Buffer		recent;

		if (!page_is_readable(index, leaves[i].block))
			break;				/* the scan raises an error when it follows the link */
		recent = hint_prefetch_buffer(index, leaves[i].block, &nentries);
		if (BufferIsValid(recent))
			page_prefetch(BufferGetPage(recent));
		if (i == 0 && nentries > 0)
			prefetch_keys(BufferGetPage(recent), leaves[0].low_key.key,
						  n > 1 ? leaves[1].low_key.key : end, nentries, probe->range.low);
	}
	if (n > 0)
		probe->leaf = leaves[0];
}

/*
 * Fetch probes of the search until the ring contains the next probe and `target` probes
 * after it, or the search has no more probes.  Unless target is 0, prefetches the leaves
 * of each probe that it adds.
 */
static void
fill_ring(LeafReader *reader)
{
	Prefetch   *prefetch = &reader->prefetch;

	while (prefetch->n <= prefetch->target)
	{
		PrefetchProbe *probe = &prefetch->probe[(prefetch->first + prefetch->n) % lengthof(prefetch->probe)];

		if (!reader->next_range(reader->search, &probe->range))
			return;
		probe->leaf.block = InvalidBlockNumber;
		if (prefetch->target > 0)
			prefetch_leaves(probe, reader->index);
		prefetch->n++;
	}
}

/*
 * Advance to the next range of the search.  Returns the first leaf of the range, pinned and
 * share-locked, or InvalidBuffer after the last range.  The caller must not hold a lock on
 * any page.
 */
static Buffer
begin_range(LeafReader *reader)
{
	Prefetch   *prefetch = &reader->prefetch;
	PrefetchProbe *probe = &prefetch->probe[prefetch->first];
	Buffer		buffer;

	fill_ring(reader);
	if (prefetch->n == 0)
		return InvalidBuffer;
	prefetch->target = prefetch->maximum;
	prefetch->first = (prefetch->first + 1) % lengthof(prefetch->probe);
	prefetch->n--;

	reader->nranges_read++;
	reader->range = probe->range;
	reader->bound = entry_before(probe->range.low);
	if (probe->leaf.block == InvalidBlockNumber)
		return descend_to(reader->index, probe->range.table, 0, &reader->bound,
						  BUFFER_LOCK_SHARE);
	buffer = descend_follow(reader->index, &probe->leaf, &reader->bound);
	hint_set_nentries(reader->index, probe->leaf.block, page_nentries(BufferGetPage(buffer)));
	return buffer;
}

/*
 * Read the matches of a leaf.  If the range continues on the right sibling, also read the
 * right-link.  The caller holds the lock of the leaf.
 *
 * Raises an error if the snapshot is too old (old_snapshot_threshold, up to PostgreSQL
 * 16).  For that it is enough to check the LSNs of leaves.  Vacuum removes entries from
 * leaves only.  A merge of two leaves changes the leaf that remains later.
 */
static void
read_leaf(LeafReader *reader, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	TreePageOpaque opaque = TreePageGetOpaque(page);
	int			nsorted = opaque->nsorted;
	int			n = page_nentries(page);
	Entry		low = page_low_key(page);
	bool		bound_met = entry_compare(&reader->bound, &low) <= 0;
	Entry		end = entry_before(reader->range.high + 1);
	int			from = 0;
	int			to = nsorted;

	TestForOldSnapshot(reader->snapshot, reader->index, page);
	reader->nleaves++;
	if (!bound_met)
		from = page_search(page, nsorted, &reader->bound);
	if (reader->range.high < ~UINT64CONST(0) && from < nsorted)
		to = page_search_from(page, nsorted, &end, from);
	reader->collect(reader, reader->search, buffer, from, to, true);
	if (nsorted < n)
		reader->collect(reader, reader->search, buffer, nsorted, n, bound_met);

	reader->in_range = !page_is_rightmost(page) && opaque->high_key <= reader->range.high;
	if (reader->in_range)
	{
		reader->link = page_right_link(page);
		reader->bound = reader->link.low_key;
	}
}

/*
 * Read the next leaf.  Sets reader->tids to its matches, of which there may be none.
 * Returns false after the last leaf.  If the search gets more ranges later, the caller
 * may call this again.  Leaves nothing locked.
 *
 * A scan with a non-MVCC snapshot must set keep_pin.  Then a leaf with matches stays
 * pinned until the next call.  By then the executor has checked the heap tuples of the
 * matches.  Vacuum cannot remove these tuples before the pin is released, because it
 * first locks each leaf for cleanup.  Without the pin, another tuple could get the TID of
 * a removed tuple.  A non-MVCC snapshot could not tell the two apart.
 */
bool
leaf_reader_read(LeafReader *reader)
{
	Buffer		buffer;

	leaf_reader_release(reader);
	reader->ntids = 0;

	CHECK_FOR_INTERRUPTS();
	buffer = reader->in_range ?
		descend_follow(reader->index, &reader->link, &reader->bound) : begin_range(reader);
	if (!BufferIsValid(buffer))
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
 * Read leaves until one contains matches.  Returns false after the last leaf.  Sets
 * reader->tids to the TIDs of the matches, and reader->range to the range that contains
 * their keys.  If the search is for keys, the range contains one key.
 */
bool
leaf_reader_next(LeafReader *reader)
{
	while (leaf_reader_read(reader))
		if (reader->ntids > 0)
			return true;
	return false;
}
