/*-------------------------------------------------------------------------
 *
 * scan.c
 *		Index scans: all rows within a ball, each once, or the nearest first
 *
 * A scan reads ranges of keys, one after the other, as the probes of a cover give
 * them (probe.c).  The matches of one page are copied at a time, so that no lock
 * is held while the executor looks at rows.
 *
 * For the nearest first, the radius grows, from one distance to the next.  A
 * match at the radius is handed out at once, for all that is nearer has been; one
 * beyond it is held back (order.c) until the radius comes to it.  When another
 * cover becomes cheaper, a new phase begins, which looks for what is beyond the
 * radius reached.  The last is to read a table through.
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
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "index/ahead.h"
#include "index/handler.h"
#include "index/match.h"
#include "index/meta.h"
#include "index/order.h"
#include "index/page.h"
#include "index/search.h"
#include "type/simhash.h"

typedef enum ScanStage
{
	SCAN_PROBE,					/* ranges of the tables */
	SCAN_HELD,					/* matches held back, at the radius */
	SCAN_NULLS,					/* the tree of NULLs */
	SCAN_DONE
} ScanStage;

typedef struct ScanState
{
	/* What is searched: rows within all of the balls, or NULLs, or both */
	int			nballs;
	SimHashBall *balls;			/* the smallest first */
	bool		want_rows;
	bool		want_nulls;

	/* Nearest to this first, if there is an order, and no farther than `reach` */
	Order	   *order;			/* or NULL */
	int			order_key;		/* which of the scan's */
	SimHash		query;
	int			reach;

	/* How */
	ScanStage	stage;
	bool		began;			/* something was asked for */
	Design		design;
	double		nrows;
	Cover		cover[COVER_KINDS];
	const Cover *chosen;
	bool		around_ball;	/* searches the smallest ball, whatever the radius */
	int			done;			/* phases before this one have handed out */
	int			radius;			/* is handed out now */
	int			horizon;		/* no farther than this one will hand out */
	Probing		probing;
	Ahead		ahead;

	/* Where: the range, and if in_range the page to read next, and its bound */
	KeyRange	range;
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
	state->design = meta_get(index)->design;
	state->pinned = InvalidBuffer;
	state->stage = SCAN_DONE;
	ahead_init(&state->ahead, index);
	if (norderbys > 0)
	{
		scan->xs_orderbyvals = palloc0(norderbys * sizeof(Datum));
		scan->xs_orderbynulls = palloc(norderbys * sizeof(bool));
	}
	scan->opaque = state;
	return scan;
}

/*
 * Read the scan keys.  Returns false if they contradict each other.
 */
static bool
read_keys(IndexScanDesc scan, ScanState *state)
{
	state->nballs = 0;
	state->want_rows = true;
	state->want_nulls = true;
	for (int i = 0; i < scan->numberOfKeys; i++)
	{
		ScanKey		key = &scan->keyData[i];
		SimHashBall ball = {0};

		if (key->sk_flags & SK_SEARCHNULL)
		{
			state->want_rows = false;
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
	return state->want_rows || state->want_nulls;
}

/*
 * Read the order asked for.  Distances from a NULL are NULL, hence all equal.
 * Of several orders, we keep the first; the executor sorts rows that are equal
 * in it, knowing from us that no distance is less than 0.
 */
static void
read_orders(IndexScanDesc scan, ScanState *state)
{
	bool		ordered = false;

	scan->xs_recheckorderby = false;
	for (int i = 0; i < scan->numberOfOrderBys; i++)
	{
		ScanKey		key = &scan->orderByData[i];

		scan->xs_orderbyvals[i] = Int32GetDatum(0);
		scan->xs_orderbynulls[i] = (key->sk_flags & SK_ISNULL) != 0;
		if (scan->xs_orderbynulls[i])
			continue;
		if (ordered)
			scan->xs_recheckorderby = true;
		else
		{
			state->query = DatumGetSimHash(key->sk_argument);
			state->order_key = i;
		}
		ordered = true;
	}
	if (ordered && state->order == NULL)
		state->order = order_create(GetMemoryChunkContext(state));
	else if (!ordered && state->order)
	{
		order_free(state->order);
		state->order = NULL;
	}
}

/*
 * Between which distances from the query what is within the balls can be.
 */
static void
bound_order(ScanState *state)
{
	state->done = -1;
	state->reach = SIMHASH_BITS;
	for (int i = 0; i < state->nballs; i++)
	{
		int			radius = state->balls[i].radius;
		int			distance = simhash_distance(state->balls[i].center, state->query);

		state->done = Max(state->done, distance - radius - 1);
		state->reach = Min(state->reach, distance + radius);
	}
}

/*
 * The cheapest way to find what is within a radius of the query: a cover, and
 * whether it searches the smallest ball instead.
 */
static const Cover *
choose_way(const ScanState *state, int radius, bool *around_ball)
{
	const Cover *cover = cover_choose(state->cover, radius, state->nrows);

	*around_ball = false;
	if (state->nballs > 0)
	{
		int			ball_radius = state->balls[0].radius;
		const Cover *other = cover_choose(state->cover, ball_radius, state->nrows);

		if (cover_cost(other, ball_radius, state->nrows) <
			cover_cost(cover, radius, state->nrows))
		{
			*around_ball = true;
			return other;
		}
	}
	return cover;
}

/* The radius of the probes that find what is within the radius of the order. */
static inline int
probe_radius(const ScanState *state)
{
	return state->around_ball ? state->balls[0].radius : state->radius;
}

/*
 * Begin a phase, for what is beyond the distance `done`.  If it searches as the
 * last one did, then that had to drop matches, and they turned out to be wanted.
 */
static void
begin_phase(ScanState *state)
{
	const Cover *last = state->chosen;
	bool		around_ball;

	state->radius = state->horizon = state->done + 1;
	state->chosen = choose_way(state, state->radius, &state->around_ball);
	while (state->horizon < state->reach &&
		   choose_way(state, state->horizon + 1, &around_ball) == state->chosen &&
		   around_ball == state->around_ball)
		state->horizon++;

	if (state->chosen == last)
		order_enlarge(state->order,
					  state->around_ball || state->chosen->kind == COVER_THROUGH);
	else
		order_reset(state->order);
	probing_start(&state->probing, &state->design, state->chosen,
				  state->around_ball ? state->balls[0].center : state->query,
				  probe_radius(state));
	ahead_reset(&state->ahead);
	state->stage = SCAN_PROBE;
}

/*
 * Begin to look for the nearest first, or for nothing, if the balls have nothing
 * in common.
 */
static void
begin_order(ScanState *state)
{
	bound_order(state);
	state->chosen = NULL;
	if (state->done < state->reach)
		begin_phase(state);
	else
		state->stage = SCAN_DONE;
}

/*
 * What the choice of a cover goes by.
 */
static void
set_rows(ScanState *state, double nrows)
{
	if (nrows == state->nrows)
		return;
	state->nrows = nrows;
	for (int i = 0; i < COVER_KINDS; i++)
		cover_init(&state->cover[i], &state->design, i, nrows);
}

/*
 * Rows that are NULL come last: their distances are NULL.
 */
static void
begin_nulls(IndexScanDesc scan)
{
	ScanState  *state = scan->opaque;

	for (int i = 0; i < scan->numberOfOrderBys; i++)
		scan->xs_orderbynulls[i] = true;
	state->stage = SCAN_NULLS;
}

/*
 * Begin a search without an order.
 */
static void
begin_search(ScanState *state)
{
	SimHashBall everything = {.radius = SIMHASH_BITS};
	SimHashBall *ball = state->nballs > 0 ? &state->balls[0] : &everything;

	if (state->nballs > 0)
		state->chosen = cover_choose(state->cover, ball->radius, state->nrows);
	else
		state->chosen = &state->cover[COVER_THROUGH];
	probing_start(&state->probing, &state->design, state->chosen,
				  ball->center, ball->radius);
	ahead_reset(&state->ahead);
	state->stage = SCAN_PROBE;
}

/*
 * amrescan
 */
void
simhash_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
			   ScanKey orderbys, int norderbys)
{
	ScanState  *state = scan->opaque;
	Relation	index = scan->indexRelation;

	if (BufferIsValid(state->pinned))
		ReleaseBuffer(state->pinned);
	state->pinned = InvalidBuffer;
	state->nmatches = state->next_match = 0;
	state->in_range = state->began = false;
	state->range.table = -1;

	if (keys && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orderbys && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orderbys, scan->numberOfOrderBys * sizeof(ScanKeyData));
	read_orders(scan, state);
	if (!read_keys(scan, state))
		state->stage = SCAN_DONE;
	else if (!state->want_rows)
		begin_nulls(scan);
	else
	{
		/* where there is no choice the file need not be asked its size */
		if (state->order == NULL && state->nballs > 0 &&
			state->balls[0].radius < state->design.ntables &&
			state->design.ntables == state->design.options.blocks)
			set_rows(state, ROWS_UNKNOWN);
		else
			set_rows(state, (double) RelationGetNumberOfBlocks(index) *
					 ENTRIES_PER_LEAF / state->design.ntables);
		if (state->order)
			begin_order(state);
		else
			begin_search(state);
	}
}

/*
 * Whether an entry that is within the ball searched for is within all balls,
 * and is found nowhere else.
 */
static bool
match_is_new(const ScanState *state, SimHash fp)
{
	for (int i = 0; i < state->nballs; i++)
		if (!simhash_ball_contains(&state->balls[i], fp))
			return false;
	return probing_is_first(&state->probing, state->range.probed,
							fp ^ state->probing.query);
}

/*
 * Add the row of an entry to the matches, or hold it back.
 */
static void
add_match(ScanState *state, Relation index, Buffer buffer, int i, int distance)
{
	ItemPointer tid = leaf_tid(BufferGetPage(buffer), i);

	if (!tid_is_valid(tid))
		page_report_corruption(index, BufferGetBlockNumber(buffer),
							   "an entry has no valid TID");
	if (distance <= state->radius)
		state->matches[state->nmatches++] = *tid;
	else
	{
		order_hold(state->order, distance, tid);
		state->horizon = Min(state->horizon, order_farthest(state->order));
	}
}

/*
 * Add the matches among the entries from `from` to `to` of a leaf.
 */
static void
collect_matches(ScanState *state, Relation index, Buffer buffer, int from, int to)
{
	const uint64 *keys = page_keys(BufferGetPage(buffer)) + from;
	const TableDesign *table = &state->design.table[state->range.table];
	SimHash		center = state->order ? state->query : state->balls[0].center;
	int			radius = state->order ? state->horizon : state->balls[0].radius;
	uint16		positions[MAX_LEAF_ENTRIES];
	int			n = match_keys(keys, to - from, design_key(table, center), radius,
							   positions);

	for (int i = 0; i < n; i++)
	{
		uint64		key = keys[positions[i]];
		SimHash		fp;
		int			distance = 0;

		if (key < state->range.low || key > state->range.high)
			continue;
		fp = design_fingerprint(table, key);
		if (state->order)
		{
			distance = simhash_distance(fp, state->query);
			if (distance <= state->done)
				continue;
		}
		if (match_is_new(state, fp))
			add_match(state, index, buffer, from + positions[i], distance);
	}
}

static void
collect_all(ScanState *state, Relation index, Buffer buffer)
{
	for (int i = 0; i < page_nentries(BufferGetPage(buffer)); i++)
		add_match(state, index, buffer, i, 0);
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
	Entry		low = entry_before(state->range.low);
	Entry		beyond = entry_before(state->range.high + 1);
	int			from = 0;
	int			to = nsorted;

	state->nmatches = state->next_match = 0;
	if (state->stage == SCAN_NULLS || (state->nballs == 0 && state->order == NULL))
		collect_all(state, index, buffer);
	else
	{
		if (state->range.low > 0)
			from = page_lower_bound(page, nsorted, &low);
		if (state->range.high < ~UINT64CONST(0))
			to = page_lower_bound(page, nsorted, &beyond);
		collect_matches(state, index, buffer, from, to);
		collect_matches(state, index, buffer, nsorted, page_nentries(page));
	}

	state->in_range = !page_is_rightmost(page) && opaque->high_key <= state->range.high;
	state->next = opaque->right;
	state->next_bound = page_high(page);
}

/*
 * Go to the first leaf of the next range: returns it pinned and locked; or false
 * after the last one of this stage.
 */
static bool
next_range(IndexScanDesc scan, Buffer *buffer)
{
	ScanState  *state = scan->opaque;
	Relation	index = scan->indexRelation;
	int			nulls = state->design.ntables;
	Entry		lowest = entry_before(0);

	if (state->stage == SCAN_PROBE)
		return ahead_next(&state->ahead, index, &state->probing, &state->range, buffer);
	if (state->range.table == nulls)
		return false;
	state->range = (KeyRange) {nulls, 0, 0, ~UINT64CONST(0)};
	*buffer = search_descend(index, nulls, 0, &lowest, BUFFER_LOCK_SHARE);
	return true;
}

/*
 * Read on to the next page that has matches.  Returns false after the last one
 * of this stage.
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

		CHECK_FOR_INTERRUPTS();
		if (state->in_range)
			buffer = page_read_right(index, state->next, &state->next_bound,
									 BUFFER_LOCK_SHARE, state->range.table, 0);
		else if (!next_range(scan, &buffer))
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
 * All of a stage has been read: go on to the next one.
 */
static void
next_stage(IndexScanDesc scan)
{
	ScanState  *state = scan->opaque;

	if (state->stage == SCAN_PROBE && state->order && state->radius < state->reach)
	{
		if (state->radius < state->horizon)
		{
			state->radius++;
			state->stage = SCAN_HELD;
		}
		else
		{
			state->done = state->radius;
			begin_phase(state);
		}
	}
	else if (state->stage == SCAN_PROBE && state->want_nulls)
		begin_nulls(scan);
	else
		state->stage = SCAN_DONE;
}

/*
 * Take the matches held back at the radius; when there are no more, look for
 * the others at this radius.
 */
static bool
take_held(ScanState *state)
{
	state->next_match = 0;
	state->nmatches = order_take(state->order, state->radius, state->matches,
								 MAX_LEAF_ENTRIES);
	if (state->nmatches > 0)
		return true;
	probing_extend(&state->probing, probe_radius(state));
	state->stage = SCAN_PROBE;
	return false;
}

/*
 * Go on to the next matches.  Returns false after the last ones.
 */
static bool
next_matches(IndexScanDesc scan, bool keep_pin)
{
	ScanState  *state = scan->opaque;

	while (state->stage != SCAN_DONE)
	{
		if (state->stage == SCAN_HELD)
		{
			if (take_held(state))
				return true;
		}
		else if (next_page(scan, keep_pin))
			return true;
		else
			next_stage(scan);
	}
	return false;
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
 * The first call of a scan.
 */
static void
begin_scan(IndexScanDesc scan, bool keep_pin)
{
	ScanState  *state = scan->opaque;

	count_index_scan(scan);
	state->began = true;

	/* what is held back cannot be pinned */
	if (state->order && keep_pin)
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
	ScanState  *state = scan->opaque;
	bool		keep_pin = scan->xs_want_itup || !IsMVCCSnapshot(scan->xs_snapshot);

	if (!state->began)
		begin_scan(scan, keep_pin);
	scan->xs_recheck = false;
	if (scan->xs_want_itup)
		set_index_tuple(scan);
	if (state->next_match == state->nmatches && !next_matches(scan, keep_pin))
		return false;
	if (state->order)
		scan->xs_orderbyvals[state->order_key] = Int32GetDatum(state->radius);
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

	begin_scan(scan, false);
	while (next_matches(scan, false))
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
	if (state->order)
		order_free(state->order);
	if (state->empty_tuple)
		pfree(state->empty_tuple);
	pfree(state->balls);
	pfree(state);
}
