/*-------------------------------------------------------------------------
 *
 * scan_hamming.c
 *		Scans for keys within balls, in order of distance if asked
 *
 * A scan reads ranges of keys, one after the other, as the probes of a probe plan give them
 * (probe.c): of all permuted tables that are probed.  A row that more than one table finds is
 * returned once.
 *
 * If the nearest rows come first, the radius grows, from one distance to the next.  A match
 * at the radius is returned at once, for all that is nearer has been.  One beyond it is
 * queued (distance_queue.c) until the radius comes to it.  When another probe plan becomes
 * cheaper, a new phase begins, which looks for what is beyond the radius reached.  The last
 * phase reads a whole permuted table.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "digest/match.h"
#include "index/scan/scan_hamming.h"
#include "index/tree/meta.h"

/*
 * Create a scan of at most so many scan keys.  The reader is for it alone.
 */
HammingScan *
hamming_scan_create(LeafReader *reader, const HammingMethods *methods, int max_keys)
{
	HammingScan *scan = palloc0(sizeof(HammingScan));

	scan->reader = reader;
	scan->methods = methods;
	scan->balls = palloc((max_keys + 1) * sizeof(SimHashBall));
	scan->design = meta_get(reader->index)->design;
	scan->nfree = InvalidBlockNumber;
	scan->plans.nrows = -1;		/* not made yet */
	return scan;
}

/* --- matching ------------------------------------------------------------------ */

/*
 * Return true if a fingerprint that is within the ball searched for is within all balls,
 * and this is the first permuted table in which the search finds it.
 */
static bool
match_is_new(const HammingScan *scan, SimHash fp)
{
	for (int i = 0; i < scan->nballs; i++)
		if (!simhash_ball_contains(&scan->balls[i], fp))
			return false;
	return probing_is_first(&scan->probing, scan->reader->range.probed,
							fp ^ scan->probing.query);
}

/*
 * Add the TID of an entry to the matches, or to those beyond the radius.
 */
static void
add_match(HammingScan *scan, Buffer buffer, int i, int distance)
{
	LeafReader *reader = scan->reader;
	const ItemPointerData *tid = leaf_checked_tid(reader->index, buffer, i);

	if (distance <= scan->radius)
		reader->tids[reader->ntids++] = *tid;
	else
	{
		FarMatch   *match = &scan->far[scan->nfar++];

		match->distance = distance;
		match->tid = *tid;
	}
}

/*
 * Add the matches among the entries from `from` to `to` of a leaf; unless all_new, those
 * that are still to be read.
 */
static void
collect_matches(LeafReader *reader, void *search, Buffer buffer, int from, int to,
				bool all_new)
{
	HammingScan *scan = search;
	const uint64 *keys = page_keys(BufferGetPage(buffer)) + from;
	const PermutedTable *table = &scan->design.table[reader->range.table];
	SimHash		center = scan->queue ? scan->query : scan->balls[0].center;
	int			radius = scan->queue ? scan->horizon : scan->balls[0].radius;
	uint16		positions[MAX_LEAF_ENTRIES];
	int			n = match_keys(keys, to - from, design_key(table, center), radius,
							   positions);

	scan->nentries += to - from;
	for (int i = 0; i < n; i++)
	{
		uint64		key = keys[positions[i]];
		SimHash		fp;
		int			distance = 0;

		if (key > reader->range.high ||
			!(all_new || leaf_reader_is_new(reader, buffer, from + positions[i])))
			continue;
		fp = design_fingerprint(table, key);
		if (scan->queue)
		{
			distance = simhash_distance(fp, scan->query);
			if (distance <= scan->completed_radius)
				continue;
		}
		if (match_is_new(scan, fp))
			add_match(scan, buffer, from + positions[i], distance);
	}
}

static bool
next_probe(void *search, KeyRange *range)
{
	return probing_next(&((HammingScan *) search)->probing, range);
}

/*
 * Begin to look for what is within a radius, by the probe plan chosen.
 */
static void
start_probing(HammingScan *scan, SimHash center, int radius)
{
	bool		want_all = scan->nballs == 0 && scan->queue == NULL;

	probing_start(&scan->probing, &scan->design, scan->chosen, center, radius);
	leaf_reader_start(scan->reader, next_probe, want_all ? NULL : collect_matches, scan);
	scan->in_queue = false;
}

/*
 * Read the matches of the probes.  Returns false after the last ones.
 *
 * Those beyond the radius are queued when the leaf is not locked any more, because they may
 * have to be written to disk.
 */
static bool
read_matches(HammingScan *scan)
{
	while (leaf_reader_read(scan->reader))
	{
		for (int i = 0; i < scan->nfar; i++)
			distance_queue_add(scan->queue, scan->far[i].distance, &scan->far[i].tid);
		if (scan->nfar > 0)
			scan->horizon = Min(scan->horizon, distance_queue_farthest(scan->queue));
		scan->nfar = 0;
		if (scan->reader->ntids > 0)
			return true;
	}
	return false;
}

/* --- the growing radius ---------------------------------------------------------- */

/*
 * Bound the distances from the query of rows that are within all balls, by the triangle
 * inequality.
 */
static void
bound_order(HammingScan *scan)
{
	scan->completed_radius = -1;
	scan->max_radius = SIMHASH_BITS;
	for (int i = 0; i < scan->nballs; i++)
	{
		int			radius = scan->balls[i].radius;
		int			distance = simhash_distance(scan->balls[i].center, scan->query);

		scan->completed_radius = Max(scan->completed_radius, distance - radius - 1);
		scan->max_radius = Min(scan->max_radius, distance + radius);
	}
}

/*
 * Return the cheapest way to find what is within a radius of the query: a probe plan, and
 * whether the smallest ball is searched by it instead.
 */
static const ProbePlan *
choose_way(const HammingScan *scan, int radius, bool *around_ball)
{
	double		cost;
	const ProbePlan *plan = probe_plans_choose(&scan->plans, radius, &cost);

	*around_ball = false;
	if (scan->nballs > 0)
	{
		double		ball_cost;
		const ProbePlan *other = probe_plans_choose(&scan->plans, scan->balls[0].radius,
														&ball_cost);

		if (ball_cost < cost)
		{
			*around_ball = true;
			return other;
		}
	}
	return plan;
}

/* The radius of the probes that find what is within the radius of the order. */
static inline int
probe_radius(const HammingScan *scan)
{
	return scan->around_ball ? scan->balls[0].radius : scan->radius;
}

/*
 * Begin a phase, for rows beyond the distance `completed_radius`.  If it has the probe plan
 * of the last phase, then the last phase had to drop matches that are wanted now.
 */
static void
begin_phase(HammingScan *scan)
{
	const ProbePlan *last = scan->chosen;
	bool		around_ball;
	bool		in_one_go;

	scan->radius = scan->horizon = scan->completed_radius + 1;
	scan->chosen = choose_way(scan, scan->radius, &scan->around_ball);
	in_one_go = scan->around_ball || scan->chosen->kind == PROBE_PLAN_FULL;
	if (in_one_go)
		scan->horizon = scan->max_radius;
	while (scan->horizon < scan->max_radius &&
		   choose_way(scan, scan->horizon + 1, &around_ball) == scan->chosen &&
		   !around_ball)
		scan->horizon++;

	if (scan->chosen == last)
		distance_queue_enlarge(scan->queue, in_one_go);
	else
		distance_queue_reset(scan->queue);
	start_probing(scan, scan->around_ball ? scan->balls[0].center : scan->query,
				  probe_radius(scan));
}

/*
 * Take queued matches at the radius.  If there are no more, look for the others at this
 * radius.
 */
static bool
take_queued(HammingScan *scan)
{
	LeafReader *reader = scan->reader;

	if (!scan->in_queue)
		return false;
	reader->ntids = distance_queue_take(scan->queue, scan->radius, reader->tids,
										MAX_LEAF_ENTRIES);
	if (reader->ntids > 0)
		return true;
	probing_extend(&scan->probing, probe_radius(scan));
	scan->in_queue = false;
	return false;
}

/*
 * Go on to the next radius, when all rows within this one have been returned.  Returns
 * false after the last one.
 */
static bool
go_farther(HammingScan *scan)
{
	if (scan->radius == scan->max_radius)
		return false;
	if (scan->radius < scan->horizon)
	{
		scan->radius++;
		scan->in_queue = true;
	}
	else
	{
		scan->completed_radius = scan->radius;
		begin_phase(scan);
	}
	return true;
}

/* --- what is asked --------------------------------------------------------------- */

/*
 * Read the scan keys.  Returns false if nothing matches.
 */
static bool
read_balls(HammingScan *scan, const ScanKeyData *keys, int nkeys)
{
	scan->nballs = 0;
	for (int i = 0; i < nkeys; i++)
	{
		SimHashBall ball;

		if (keys[i].sk_flags & SK_ISNULL)
			continue;			/* IS NOT NULL */
		ball = scan->methods->get_ball(&keys[i]);
		if (ball.radius < 0)
			return false;

		/* the smallest one bounds the search */
		scan->balls[scan->nballs++] = ball;
		if (ball.radius < scan->balls[0].radius)
		{
			scan->balls[scan->nballs - 1] = scan->balls[0];
			scan->balls[0] = ball;
		}
	}
	return true;
}

/*
 * Read the order.  The distance from NULL is NULL for every row, which is no order.
 */
static void
read_order(HammingScan *scan, const ScanKeyData *order)
{
	MemoryContext context = GetMemoryChunkContext(scan);
	bool		ordered = order && !(order->sk_flags & SK_ISNULL);

	if (ordered)
		scan->query = DatumGetSimHash(order->sk_argument);
	if (ordered && scan->far == NULL)
		scan->far = MemoryContextAlloc(context, MAX_LEAF_ENTRIES * sizeof(FarMatch));
	if (ordered && scan->queue == NULL)
		scan->queue = distance_queue_create(context);
	else if (!ordered && scan->queue)
	{
		distance_queue_free(scan->queue);
		scan->queue = NULL;
	}
}

/*
 * Estimate how many rows there are, by the number of pages in the trees.  The number of
 * free pages is read only once in a scan, because it stands in the metapage, for which all
 * that split pages compete.
 */
static double
estimate_rows(HammingScan *scan)
{
	BlockNumber npages = RelationGetNumberOfBlocks(scan->reader->index);

	if (scan->nfree == InvalidBlockNumber)
		scan->nfree = meta_count_free(scan->reader->index);
	return (double) (npages - Min(scan->nfree, npages)) * ENTRIES_PER_LEAF /
		scan->design.ntables;
}

/*
 * Prepare the choice of a probe plan, for so many rows.
 */
static void
set_rows(HammingScan *scan, double nrows)
{
	if (nrows != scan->plans.nrows)
		probe_plans_init(&scan->plans, &scan->design, nrows);
}

/*
 * Begin a search without an order.
 */
static void
begin_unordered(HammingScan *scan)
{
	SimHashBall everything = {.radius = SIMHASH_BITS};
	SimHashBall *ball = scan->nballs > 0 ? &scan->balls[0] : &everything;
	double		cost;

	if (scan->nballs > 0)
		scan->chosen = probe_plans_choose(&scan->plans, ball->radius, &cost);
	else
		scan->chosen = &scan->plans.kind[PROBE_PLAN_FULL];
	start_probing(scan, ball->center, ball->radius);
}

/*
 * Begin to look for the rows that the scan keys ask for, the nearest first if there is an
 * order.  Returns false if nothing matches: a ball is empty, or the balls have nothing in
 * common.
 */
bool
hamming_scan_begin(HammingScan *scan, const ScanKeyData *keys, int nkeys,
				   const ScanKeyData *order)
{
	scan->nentries = 0;
	scan->radius = 0;			/* that of all matches without an order */
	read_order(scan, order);
	if (!read_balls(scan, keys, nkeys))
		return false;

	/* where there is no choice the number of rows does not matter */
	if (scan->queue == NULL && scan->nballs > 0 &&
		probe_plan_is_obvious(&scan->design, scan->balls[0].radius))
		set_rows(scan, ROWS_UNKNOWN);
	else
		set_rows(scan, estimate_rows(scan));
	if (scan->queue == NULL)
	{
		begin_unordered(scan);
		return true;
	}
	bound_order(scan);
	scan->chosen = NULL;
	if (scan->completed_radius >= scan->max_radius)
		return false;
	begin_phase(scan);
	return true;
}

/*
 * Put the TIDs of the next matches into the reader; those at one distance, scan->radius, if
 * there is an order.  Returns false after the last ones.
 */
bool
hamming_scan_next(HammingScan *scan)
{
	do
	{
		if (take_queued(scan) || read_matches(scan))
			return true;
	} while (scan->queue && go_farther(scan));
	return false;
}

void
hamming_scan_end(HammingScan *scan)
{
	if (scan->queue)
		distance_queue_free(scan->queue);
	if (scan->far)
		pfree(scan->far);
	pfree(scan->balls);
	pfree(scan);
}
