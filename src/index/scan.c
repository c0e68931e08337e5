/*-------------------------------------------------------------------------
 *
 * scan.c
 *		Index scans: all rows within a ball, each once
 *
 * A scan reads ranges of keys, one after the other: a probe of a table is the
 * range of keys with one prefix.  Where probing would read more pages than a
 * whole table has, the first table is read through instead.  The matches of
 * one page are copied at a time, so that no lock is held while the executor
 * looks at rows.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/itup.h"
#include "access/relscan.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "index/handler.h"
#include "index/match.h"
#include "index/meta.h"
#include "index/page.h"
#include "index/search.h"
#include "type/simhash.h"

typedef enum ScanStage
{
	SCAN_PROBE,					/* probes of the tables */
	SCAN_THROUGH,				/* all of the first table */
	SCAN_NULLS,					/* all of the tree of NULLs */
	SCAN_DONE
} ScanStage;

typedef struct ScanState
{
	/* What is searched: rows within all of the balls, or NULLs, or both */
	int			nballs;
	SimHashBall *balls;			/* the smallest first */
	bool		want_nulls;

	/* How */
	ScanStage	stage;
	bool		began;			/* some range of this stage was given out */
	Design		design;
	ProbePlan	plan;
	int			tree;			/* of the range */
	uint64		pattern;		/* prefix bits flipped by the current probe */
	uint64		low;			/* the range of keys, inclusive */
	uint64		high;

	/* Where: if in_range, the page to read next, and its left bound */
	bool		in_range;
	BlockNumber next;
	Entry		next_bound;

	/* The matches of the page read last */
	Buffer		pinned;			/* that page, or InvalidBuffer */
	IndexTuple	empty_tuple;	/* what an index-only scan gets */
	int			nmatches;
	int			next_match;
	ItemPointerData matches[MAX_LEAF_ENTRIES];
} ScanState;

/*
 * ambeginscan
 */
IndexScanDesc
simhash_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	ScanState  *state = palloc0(sizeof(ScanState));

	state->balls = palloc((nkeys + 1) * sizeof(SimHashBall));
	state->pinned = InvalidBuffer;
	state->stage = SCAN_DONE;
	scan->opaque = state;
	return scan;
}

/*
 * Read the scan keys.  Returns false if they contradict each other.
 */
static bool
read_keys(IndexScanDesc scan, ScanState *state)
{
	bool		want_rows = true;

	state->nballs = 0;
	state->want_nulls = true;
	for (int i = 0; i < scan->numberOfKeys; i++)
	{
		ScanKey		key = &scan->keyData[i];
		SimHashBall ball = {0};

		if (key->sk_flags & SK_SEARCHNULL)
		{
			want_rows = false;
			continue;
		}
		state->want_nulls = false;
		if (key->sk_flags & SK_SEARCHNOTNULL)
			continue;
		if (key->sk_flags & SK_ISNULL)
			return false;
		if (key->sk_strategy == STRATEGY_WITHIN)
			ball = *DatumGetSimHashBallP(key->sk_argument);
		else
			ball.center = DatumGetSimHash(key->sk_argument);
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
	if (want_rows)
		return true;
	state->nballs = 0;
	state->stage = SCAN_NULLS;
	return state->want_nulls;
}

/*
 * amrescan
 */
void
simhash_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
			   ScanKey orderbys, int norderbys)
{
	ScanState  *state = scan->opaque;
	const IndexMeta *meta = meta_get(scan->indexRelation);

	if (BufferIsValid(state->pinned))
		ReleaseBuffer(state->pinned);
	state->pinned = InvalidBuffer;
	state->nmatches = state->next_match = 0;
	state->in_range = state->began = false;
	state->design = meta->design;
	state->stage = SCAN_THROUGH;

	if (keys && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (!read_keys(scan, state))
		state->stage = SCAN_DONE;
	else if (state->nballs > 0 && state->balls[0].radius < SIMHASH_BITS)
	{
		design_plan_probes(&state->design, state->balls[0].radius, &state->plan);
		/* one probe a table always pays: the file need not be asked its size */
		if (state->balls[0].radius < state->design.ntables ||
			design_probing_pays(&state->design, &state->plan,
								RelationGetNumberOfBlocks(scan->indexRelation) /
								state->design.ntables))
			state->stage = SCAN_PROBE;
	}
}

/*
 * The next probe: the next pattern of the table, or the first of the next
 * table that is probed at all.
 */
static bool
next_probe(ScanState *state)
{
	const TableDesign *table;
	uint64		rest;

	if (!state->began)
		state->tree = -1;
	if (!state->began ||
		!design_next_pattern(&state->pattern, state->design.table[state->tree].nprefix,
							 state->plan.flips[state->tree]))
	{
		state->began = true;
		state->pattern = 0;
		do
		{
			if (++state->tree == state->design.ntables)
				return false;
		} while (state->plan.flips[state->tree] < 0);
	}
	table = &state->design.table[state->tree];
	rest = ~UINT64CONST(0) >> table->nprefix;
	state->low = (design_key(table, state->balls[0].center) ^ state->pattern) & ~rest;
	state->high = state->low | rest;
	return true;
}

/*
 * Go to the next range of keys.  Returns false after the last one.
 */
static bool
next_range(IndexScanDesc scan)
{
	ScanState  *state = scan->opaque;

	if (state->stage == SCAN_PROBE)
	{
		if (next_probe(state))
			return true;
		state->stage = SCAN_DONE;
	}
	else if (state->stage != SCAN_DONE && !state->began)
	{
		state->began = true;
		state->tree = state->stage == SCAN_NULLS ? state->design.ntables : 0;
		state->low = 0;
		state->high = ~UINT64CONST(0);
		return true;
	}
	else if (state->stage == SCAN_THROUGH && state->want_nulls)
	{
		state->stage = SCAN_NULLS;
		state->began = false;
		return next_range(scan);
	}
	else
		state->stage = SCAN_DONE;
	return false;
}

/*
 * Whether a row that is within the smallest ball is within the others, and
 * no probe of an earlier table has found it.
 */
static bool
match_is_new(const ScanState *state, uint64 key)
{
	SimHash		fp = design_fingerprint(&state->design.table[state->tree], key);

	for (int i = 1; i < state->nballs; i++)
		if (!simhash_ball_contains(&state->balls[i], fp))
			return false;
	if (state->stage == SCAN_PROBE)
	{
		for (int i = 0; i < state->tree; i++)
			if (design_probe_reaches(&state->design, &state->plan, i,
									 fp ^ state->balls[0].center))
				return false;
	}
	return true;
}

/*
 * Add the row of an entry to the matches.
 */
static void
add_match(ScanState *state, Relation index, Buffer buffer, int i)
{
	ItemPointer tid = leaf_tid(BufferGetPage(buffer), i);

	if (!tid_is_valid(tid))
		page_report_corruption(index, BufferGetBlockNumber(buffer),
							   "an entry has no valid TID");
	state->matches[state->nmatches++] = *tid;
}

/*
 * Add the matches among the entries from `from` to `to` of a leaf.
 */
static void
collect_matches(ScanState *state, Relation index, Buffer buffer, int from, int to)
{
	const uint64 *keys = page_keys(BufferGetPage(buffer)) + from;
	uint16		positions[MAX_LEAF_ENTRIES];
	int			n;

	if (state->nballs == 0)
	{
		for (int i = from; i < to; i++)
			add_match(state, index, buffer, i);
		return;
	}
	n = match_keys(keys, to - from,
				   design_key(&state->design.table[state->tree], state->balls[0].center),
				   state->balls[0].radius, positions);
	for (int i = 0; i < n; i++)
	{
		uint64		key = keys[positions[i]];

		if (key >= state->low && key <= state->high && match_is_new(state, key))
			add_match(state, index, buffer, from + positions[i]);
	}
}

/*
 * Read the matches of a leaf, locked; and where the range goes on.
 */
static void
read_leaf(ScanState *state, Relation index, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	TreePageOpaque opaque = TreePageGetOpaque(page);
	int			nsorted = opaque->nsorted;
	Entry		low = entry_before(state->low);
	Entry		beyond = entry_before(state->high + 1);
	int			from = 0;
	int			to = nsorted;

	if (state->low > 0)
		from = page_lower_bound(page, nsorted, &low);
	if (state->high < ~UINT64CONST(0))
		to = page_lower_bound(page, nsorted, &beyond);
	state->nmatches = state->next_match = 0;
	collect_matches(state, index, buffer, from, to);
	collect_matches(state, index, buffer, nsorted, page_nentries(page));

	state->in_range = !page_is_rightmost(page) && opaque->high_key <= state->high;
	state->next = opaque->right;
	state->next_bound = page_high(page);
}

/*
 * Read on to the next page that has matches.  Returns false after the last.
 *
 * A snapshot that is not an MVCC one does not know a row that has taken the
 * place of a vacuumed one from the row it is looking for; nor does an
 * index-only scan, which looks at the visibility map alone.  So the page then
 * stays pinned, which holds vacuum up, until all its rows have been looked at.
 */
static bool
next_page(IndexScanDesc scan, bool keep_pin)
{
	ScanState  *state = scan->opaque;
	Relation	index = scan->indexRelation;

	if (BufferIsValid(state->pinned))
		ReleaseBuffer(state->pinned);
	state->pinned = InvalidBuffer;

	for (;;)
	{
		Buffer		buffer;

		if (state->in_range)
			buffer = page_read_right(index, state->next, &state->next_bound,
									 BUFFER_LOCK_SHARE, state->tree, 0);
		else if (next_range(scan))
		{
			Entry		low = entry_before(state->low);

			CHECK_FOR_INTERRUPTS();
			buffer = search_descend(index, state->tree, 0, &low, BUFFER_LOCK_SHARE);
		}
		else
			return false;

		read_leaf(state, index, buffer);
		if (state->nmatches > 0 && keep_pin)
		{
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			state->pinned = buffer;
		}
		else
			UnlockReleaseBuffer(buffer);
		if (state->nmatches > 0)
			return true;
	}
}

/*
 * The planner may choose an index-only scan, though the index returns no
 * column, for a query that needs none: count(*), EXISTS.  Then there has to be
 * a tuple, which nobody looks into.
 */
static void
set_index_tuple(IndexScanDesc scan)
{
	ScanState  *state = scan->opaque;
	TupleDesc	desc = RelationGetDescr(scan->indexRelation);
	Datum		value = (Datum) 0;
	bool		isnull = true;

	if (state->empty_tuple == NULL)
		state->empty_tuple = index_form_tuple(desc, &value, &isnull);
	scan->xs_itup = state->empty_tuple;
	scan->xs_itupdesc = desc;
}

/*
 * amgettuple
 */
bool
simhash_gettuple(IndexScanDesc scan, ScanDirection direction)
{
	ScanState  *state = scan->opaque;

	if (!state->began)
		count_index_scan(scan);
	scan->xs_recheck = false;
	if (scan->xs_want_itup)
		set_index_tuple(scan);
	if (state->next_match == state->nmatches &&
		!next_page(scan, scan->xs_want_itup || !IsMVCCSnapshot(scan->xs_snapshot)))
		return false;
	scan->xs_heaptid = state->matches[state->next_match++];
	return true;
}

/*
 * amgetbitmap
 */
int64
simhash_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	ScanState  *state = scan->opaque;
	int64		ntids = 0;

	count_index_scan(scan);
	while (next_page(scan, false))
	{
		tbm_add_tuples(bitmap, state->matches, state->nmatches, false);
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
	ScanState  *state = scan->opaque;

	if (BufferIsValid(state->pinned))
		ReleaseBuffer(state->pinned);
	if (state->empty_tuple)
		pfree(state->empty_tuple);
	pfree(state->balls);
	pfree(state);
}
