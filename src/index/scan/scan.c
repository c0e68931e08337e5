/*-------------------------------------------------------------------------
 *
 * scan.c
 *		Index scans: all rows within a ball, each once, or the nearest first
 *
 * A scan reads ranges of keys, one after the other, as the probes of a cover give
 * them (probe.c): of all tables that are probed, then, if they are wanted, the NULLs.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "index/access_method.h"
#include "index/opclass_lookup.h"
#include "index/scan/scan.h"
#include "index/tree/meta.h"

/*
 * ambeginscan
 */
IndexScanDesc
simhash_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	SimHashScan *state = palloc0(sizeof(SimHashScan));

	/* amcostestimate leaves no path with more than one */
	if (norderbys > 1)
		elog(ERROR, "index \"%s\" cannot be scanned in order of several distances",
			 RelationGetRelationName(index));
	state->balls = palloc((nkeys + 1) * sizeof(SimHashBall));
	state->design = meta_get(index)->design;
	state->opclass = opclass_of_trees(index);
	state->nfree = InvalidBlockNumber;
	state->covers.nrows = -1;	/* not made yet */
	state->pinned = InvalidBuffer;
	state->stage = SCAN_DONE;
	prefetch_init(&state->prefetch, index);
	if (norderbys > 0)
	{
		scan->xs_orderbyvals = palloc0(sizeof(Datum));
		scan->xs_orderbynulls = palloc(sizeof(bool));
		state->far = palloc(MAX_LEAF_ENTRIES * sizeof(FarMatch));
	}
	scan->xs_recheckorderby = false;	/* distances are exact */
	scan->opaque = state;
	return scan;
}

/*
 * Read the scan keys.  Returns false if they contradict each other.
 */
static bool
read_keys(IndexScanDesc scan, SimHashScan *state)
{
	state->nballs = 0;
	state->want_rows = true;
	state->want_nulls = true;
	for (int i = 0; i < scan->numberOfKeys && !scan_wants_nothing(state); i++)
	{
		ScanKey		key = &scan->keyData[i];
		SimHashBall ball;

		if (!scan_key_compares(state, key))
			continue;
		ball = state->opclass->hamming->get_ball(key);
		if (ball.radius < 0)
			return false;

		/* the smallest one bounds the search */
		state->balls[state->nballs++] = ball;
		if (ball.radius < state->balls[0].radius)
		{
			state->balls[state->nballs - 1] = state->balls[0];
			state->balls[0] = ball;
		}
	}
	return !scan_wants_nothing(state);
}

/*
 * Read the order.  The distance from NULL is NULL for every row, which is no order.
 */
static void
read_order(IndexScanDesc scan, SimHashScan *state)
{
	bool		ordered = false;

	if (scan->numberOfOrderBys > 0)
	{
		ordered = !(scan->orderByData->sk_flags & SK_ISNULL);
		scan->xs_orderbynulls[0] = !ordered;
	}
	if (ordered)
		state->query = DatumGetSimHash(scan->orderByData->sk_argument);
	if (ordered && state->queue == NULL)
		state->queue = distance_queue_create(GetMemoryChunkContext(state));
	else if (!ordered && state->queue)
	{
		distance_queue_free(state->queue);
		state->queue = NULL;
	}
}

/*
 * About how many rows there are, by the number of pages in the trees.  The number of free
 * pages is read only once in a scan, because it stands in the metapage, for which all
 * that split pages compete.
 */
static double
estimate_rows(Relation index, SimHashScan *state)
{
	BlockNumber npages = RelationGetNumberOfBlocks(index);

	if (state->nfree == InvalidBlockNumber)
		state->nfree = meta_count_free(index);
	return (double) (npages - Min(state->nfree, npages)) * ENTRIES_PER_LEAF /
		state->design.ntables;
}

/*
 * Prepare the choice of a cover, for so many rows.
 */
static void
set_rows(SimHashScan *state, double nrows)
{
	if (nrows != state->covers.nrows)
		covers_init(&state->covers, &state->design, nrows);
}

/*
 * Begin a search without an order.
 */
static void
begin_search(SimHashScan *state)
{
	SimHashBall everything = {.radius = SIMHASH_BITS};
	SimHashBall *ball = state->nballs > 0 ? &state->balls[0] : &everything;
	double		cost;

	if (state->nballs > 0)
		state->chosen = covers_choose(&state->covers, ball->radius, &cost);
	else
		state->chosen = &state->covers.kind[COVER_THROUGH];
	scan_start_probing(state, ball->center, ball->radius);
}

/*
 * Rows that are NULL come last: their distances are NULL.
 */
static void
begin_nulls(IndexScanDesc scan)
{
	SimHashScan *state = scan->opaque;

	if (scan->numberOfOrderBys > 0)
		scan->xs_orderbynulls[0] = true;
	state->range.table = -1;
	state->stage = SCAN_NULLS;
}

/*
 * amrescan
 */
void
simhash_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
			   ScanKey orderbys, int norderbys)
{
	SimHashScan *state = scan->opaque;
	Relation	index = scan->indexRelation;

	if (BufferIsValid(state->pinned))
		ReleaseBuffer(state->pinned);
	state->pinned = InvalidBuffer;
	state->nmatches = state->next_match = 0;
	state->radius = 0;			/* that of NULLs, and of all without an order */
	state->in_range = state->began = false;
	state->nprobes = state->npages = state->nentries = 0;
	state->range.table = -1;

	if (keys && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orderbys && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orderbys, sizeof(ScanKeyData));
	state->recheck = state->opclass->recheck;
	shared_end(state);
	if (state->opclass->multi_key)
	{
		words_begin(scan);
		return;
	}
	read_order(scan, state);
	if (!read_keys(scan, state))
		state->stage = SCAN_DONE;
	else if (!state->want_rows)
		begin_nulls(scan);
	else
	{
		/* where there is no choice the number of rows does not matter */
		if (state->queue == NULL && state->nballs > 0 &&
			cover_is_obvious(&state->design, state->balls[0].radius))
			set_rows(state, ROWS_UNKNOWN);
		else
			set_rows(state, estimate_rows(index, state));
		if (state->queue)
			nearest_begin(state);
		else
			begin_search(state);
	}
}

/*
 * All of a stage has been read: go on to the next one.
 */
static void
next_stage(IndexScanDesc scan)
{
	SimHashScan *state = scan->opaque;

	if (state->stage == SCAN_PROBE && state->queue && nearest_go_farther(state))
		return;
	if ((state->stage == SCAN_PROBE || state->stage == SCAN_SHARED) && state->want_nulls)
		begin_nulls(scan);
	else if (state->stage == SCAN_WORDS && state->words.seen)
		state->stage = SCAN_DEFERRED;
	else
		state->stage = SCAN_DONE;
}

/*
 * Go on to the next rows that were deferred, if there are any.
 */
static bool
take_deferred(SimHashScan *state)
{
	state->next_match = 0;
	state->nmatches = tid_set_take_deferred(state->words.seen, state->matches,
											 MAX_LEAF_ENTRIES);
	if (state->nmatches == 0)
		state->stage = SCAN_DONE;
	return state->nmatches > 0;
}

/*
 * Go on to the next matches.  Returns false after the last ones.
 */
bool
scan_next_matches(IndexScanDesc scan, bool keep_pin)
{
	SimHashScan *state = scan->opaque;

	while (state->stage != SCAN_DONE)
	{
		if (state->stage == SCAN_QUEUED)
		{
			if (nearest_take_queued(state))
				return true;
		}
		else if (state->stage == SCAN_DEFERRED)
		{
			if (take_deferred(state))
				return true;
		}
		else if (state->stage == SCAN_MERGED)
		{
			if (merged_take(scan, state->words.merged))
				return true;
			next_stage(scan);
		}
		else if (state->stage == SCAN_SHARED)
		{
			if (shared_take(scan))
				return true;
			next_stage(scan);
		}
		else if (scan_next_page(scan, keep_pin))
			return true;
		else
			next_stage(scan);
	}
	return false;
}

/*
 * The first call of a scan.
 */
static void
begin_scan(IndexScanDesc scan, bool keep_pin)
{
	SimHashScan *state = scan->opaque;

	count_index_scan(scan);
	state->began = true;

	/*
	 * The planner takes an index that returns no column for an index-only scan
	 * where a query needs none, unless amcostestimate says that it is none.
	 */
	if (scan->xs_want_itup)
		elog(ERROR, "index \"%s\" does not support index-only scans",
			 RelationGetRelationName(scan->indexRelation));

	/* the leaves of matches that are held back cannot all stay pinned */
	if ((state->queue || state->shared) && keep_pin)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" cannot be scanned in order of distance without an MVCC snapshot",
						RelationGetRelationName(scan->indexRelation))));
}

/*
 * amgettuple
 */
bool
simhash_gettuple(IndexScanDesc scan, ScanDirection direction)
{
	SimHashScan *state = scan->opaque;
	bool		keep_pin = !IsMVCCSnapshot(scan->xs_snapshot);

	if (!state->began)
	{
		begin_scan(scan, keep_pin);
		if (state->shared == NULL)
			words_report_once(&state->words, keep_pin);
	}
	scan->xs_recheck = state->recheck;
	if (state->next_match == state->nmatches && !scan_next_matches(scan, keep_pin))
		return false;
	if (state->queue)
		scan->xs_orderbyvals[0] = Int32GetDatum(state->radius);
	else if (state->shared && scan->numberOfOrderBys > 0)
		scan->xs_orderbyvals[0] = Float8GetDatum(state->shared_distance);
	scan->xs_heaptid = state->matches[state->next_match++];
	return true;
}

/*
 * amgetbitmap
 */
int64
simhash_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	SimHashScan *state = scan->opaque;
	int64		ntids = 0;

	begin_scan(scan, false);
	while (scan_next_matches(scan, false))
	{
		tbm_add_tuples(bitmap, state->matches, state->nmatches, state->recheck);
		ntids += state->nmatches;
	}
	return ntids;
}

/*
 * amendscan
 */
void
simhash_endscan(IndexScanDesc scan)
{
	SimHashScan *state = scan->opaque;

	if (BufferIsValid(state->pinned))
		ReleaseBuffer(state->pinned);
	if (state->queue)
		distance_queue_free(state->queue);
	if (state->far)
		pfree(state->far);
	shared_end(state);
	words_end(&state->words);
	pfree(state->balls);
	pfree(state);
}
