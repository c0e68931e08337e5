/*-------------------------------------------------------------------------
 *
 * prefetch.c
 *		The next probes of a search, their leaves fetched ahead
 *
 * The probes of a search are known beforehand, and what stands above the leaves
 * is a few hundredths of an index, hence cached.  So it can be found out early
 * which leaves will be read.  The operating system is told, if they are not in
 * shared buffers, as often as effective_io_concurrency allows; and the processor,
 * if they are.
 *
 * The first probe is not looked at ahead, because many searches end with it.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "index/scan/prefetch.h"
#include "index/tree/descend.h"
#include "index/tree/link.h"

/*
 * Prepare for the searches of a scan.
 */
void
prefetch_init(Prefetch *prefetch, Relation index)
{
	prefetch->most = Min(get_tablespace_io_concurrency(index->rd_rel->reltablespace),
						 PREFETCH_MAX);
	prefetch_reset(prefetch);
}

/*
 * Begin another search.
 */
void
prefetch_reset(Prefetch *prefetch)
{
	prefetch->wanted = 0;
	prefetch->first = 0;
	prefetch->n = 0;
}

/* Leaves of a range that are fetched: few have more. */
#define MAX_LEAVES	8

/*
 * Find the leaves of a range, and have them fetched.
 */
static void
fetch_leaves(PrefetchProbe *probe, Relation index)
{
	PageLink	leaves[MAX_LEAVES];
	int			n = descend_find_leaves(index, probe->range.table, probe->range.low,
										probe->range.high, leaves, MAX_LEAVES);

	for (int i = 0; i < n; i++)
	{
		Buffer		recent;

		if (!page_is_readable(index, leaves[i].block))
			break;				/* the scan will say so when it gets there */
		recent = PrefetchBuffer(index, MAIN_FORKNUM, leaves[i].block).recent_buffer;
		if (BufferIsValid(recent))
			page_prefetch(BufferGetPage(recent));
		if (i == 0)
			probe->recent = recent;
	}
	if (n > 0)
		probe->leaf = leaves[0];
}

/*
 * Take probes from the search, as many as are wanted ahead of the next one.
 */
static void
look_ahead(Prefetch *prefetch, Relation index, NextRange next_range, void *search)
{
	while (prefetch->n <= prefetch->wanted)
	{
		PrefetchProbe *probe = &prefetch->probe[(prefetch->first + prefetch->n) % lengthof(prefetch->probe)];

		if (!next_range(search, &probe->range))
			return;
		probe->leaf.block = InvalidBlockNumber;
		probe->recent = InvalidBuffer;
		if (prefetch->wanted > 0)
			fetch_leaves(probe, index);
		prefetch->n++;
	}
}

/*
 * Go on to the next probe of a search: returns its range, and the leaf where
 * that begins, pinned and locked; or false, after the last one.
 */
bool
prefetch_next(Prefetch *prefetch, Relation index, NextRange next_range, void *search,
			  KeyRange *range, Buffer *buffer)
{
	PrefetchProbe *probe = &prefetch->probe[prefetch->first];
	Entry		low;

	look_ahead(prefetch, index, next_range, search);
	if (prefetch->n == 0)
		return false;
	prefetch->wanted = prefetch->most;
	prefetch->first = (prefetch->first + 1) % lengthof(prefetch->probe);
	prefetch->n--;

	*range = probe->range;
	low = entry_before(range->low);
	if (probe->leaf.block == InvalidBlockNumber)
		*buffer = descend_to(index, range->table, 0, &low, BUFFER_LOCK_SHARE);
	else
		*buffer = descend_follow(index, &probe->leaf, probe->recent, &low);
	return true;
}
