/*-------------------------------------------------------------------------
 *
 * ahead.c
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

#include "compat.h"
#include "index/ahead.h"
#include "index/search.h"

/*
 * Prepare for the searches of a scan.
 */
void
ahead_init(Ahead *ahead, Relation index)
{
	ahead->most = Min(get_tablespace_io_concurrency(index->rd_rel->reltablespace),
					  AHEAD_MAX);
	ahead_reset(ahead);
}

/*
 * Begin another search.
 */
void
ahead_reset(Ahead *ahead)
{
	ahead->wanted = 0;
	ahead->first = 0;
	ahead->n = 0;
}

/* Leaves of a range that are fetched: few have more. */
#define MAX_LEAVES	8

/*
 * Find the leaves of a range, and have them fetched.
 */
static void
fetch_leaves(AheadProbe *probe, Relation index)
{
	PageLink	leaves[MAX_LEAVES];
	int			n = search_find_leaves(index, probe->range.table, probe->range.low,
									   probe->range.high, leaves, MAX_LEAVES);

	for (int i = 0; i < n; i++)
	{
		Buffer		recent;

		if (!page_is_readable(index, leaves[i].block))
			break;				/* who reads it will say so */
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
look_ahead(Ahead *ahead, Relation index, Probing *probing)
{
	while (ahead->n <= ahead->wanted)
	{
		AheadProbe *probe = &ahead->probe[(ahead->first + ahead->n) % lengthof(ahead->probe)];

		if (!probing_next(probing, &probe->range))
			return;
		probe->leaf.block = InvalidBlockNumber;
		probe->recent = InvalidBuffer;
		if (ahead->wanted > 0)
			fetch_leaves(probe, index);
		ahead->n++;
	}
}

/*
 * Go on to the next probe of a search: returns its range, and the leaf where
 * that begins, pinned and locked; or false, after the last one.
 */
bool
ahead_next(Ahead *ahead, Relation index, Probing *probing,
		   KeyRange *range, Buffer *buffer)
{
	AheadProbe *probe = &ahead->probe[ahead->first];
	Entry		low;

	look_ahead(ahead, index, probing);
	if (ahead->n == 0)
		return false;
	ahead->wanted = ahead->most;
	ahead->first = (ahead->first + 1) % lengthof(ahead->probe);
	ahead->n--;

	*range = probe->range;
	low = entry_before(range->low);
	if (probe->leaf.block == InvalidBlockNumber)
		*buffer = search_descend(index, range->table, 0, &low, BUFFER_LOCK_SHARE);
	else
		*buffer = search_follow(index, &probe->leaf, probe->recent, &low);
	return true;
}
