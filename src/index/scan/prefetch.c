/*
 * Prefetch the leaves of a search's next probes
 *
 * A search knows its probes before it reads their leaves.  Inner pages are only a few
 * thousandths of an index, so they are usually cached.  So the search can find the leaves of
 * its next probes early.  If a leaf is not in shared buffers, the operating system prefetches
 * it.  If the leaf is in shared buffers, the processor prefetches it into its own cache.  The
 * number of probes to prefetch is effective_io_concurrency of the tablespace, but at most
 * PREFETCH_MAX.
 *
 * Before the search reads its first probe, nothing is prefetched, because many searches end
 * with that probe.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "index/scan/prefetch.h"
#include "index/tree/buffer_hint.h"
#include "index/tree/descend.h"
#include "index/tree/link.h"

/*
 * Initialize the prefetching of a scan.  A scan may have several searches.
 */
void
prefetch_init(Prefetch *prefetch, Relation index)
{
	prefetch->maximum = Min(get_tablespace_io_concurrency(index->rd_rel->reltablespace),
						 PREFETCH_MAX);
	prefetch_reset(prefetch);
}

/*
 * Prepare for the next search of a scan.  Removes the probes of the previous search.
 */
void
prefetch_reset(Prefetch *prefetch)
{
	prefetch->target = 0;
	prefetch->first = 0;
	prefetch->n = 0;
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
fill_ring(Prefetch *prefetch, Relation index, NextRange next_range, void *search)
{
	while (prefetch->n <= prefetch->target)
	{
		PrefetchProbe *probe = &prefetch->probe[(prefetch->first + prefetch->n) % lengthof(prefetch->probe)];

		if (!next_range(search, &probe->range))
			return;
		probe->leaf.block = InvalidBlockNumber;
		if (prefetch->target > 0)
			prefetch_leaves(probe, index);
		prefetch->n++;
	}
}

/*
 * Advance to the next probe of a search.  Sets *range to the range of the probe, and
 * *buffer to the first leaf of the range, pinned and share-locked.  Returns false after
 * the last probe.  The caller must not hold a lock on any page.
 */
bool
prefetch_next(Prefetch *prefetch, Relation index, NextRange next_range, void *search,
			  KeyRange *range, Buffer *buffer)
{
	PrefetchProbe *probe = &prefetch->probe[prefetch->first];
	Entry		low;

	fill_ring(prefetch, index, next_range, search);
	if (prefetch->n == 0)
		return false;
	prefetch->target = prefetch->maximum;
	prefetch->first = (prefetch->first + 1) % lengthof(prefetch->probe);
	prefetch->n--;

	*range = probe->range;
	low = entry_before(range->low);
	if (probe->leaf.block == InvalidBlockNumber)
		*buffer = descend_to(index, range->table, 0, &low, BUFFER_LOCK_SHARE);
	else
	{
		*buffer = descend_follow(index, &probe->leaf, &low);
		hint_set_nentries(index, probe->leaf.block, page_nentries(BufferGetPage(*buffer)));
	}
	return true;
}
