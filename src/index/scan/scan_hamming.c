/*
 * Scans by Hamming distance: for keys within balls, or nearest first
 *
 * A ball is a fingerprint, its center, and a radius in bits.  Each scan key is a ball.  A
 * match lies within all of them.
 *
 * A scan reads one range of keys after another: the probes of a probe plan (probe_plan.c),
 * in all permuted tables of the plan.  If several permuted tables find a row, the scan
 * returns it once.
 *
 * A scan in order of distance grows its radius from one distance to the next.  This is the
 * k-nearest-neighbor search of multi-index hashing (Norouzi, Punjani and Fleet, "Fast exact
 * search in Hamming space with multi-index hashing", 2014).  The scan returns a match at
 * the radius at once, because it has returned all nearer matches.  It queues a match beyond
 * the radius until the radius reaches the match (distance_queue.c).
 *
 * When another probe plan becomes cheaper, a new phase begins.  It searches for matches
 * beyond the radius that the previous phase has reached.  A phase that reads a whole
 * permuted table, or probes around the smallest ball, finds all remaining matches at once.
 * It is the last phase, unless the queue drops some of them (begin_phase).
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "digest/match.h"
#include "index/scan/scans.h"

/*
 * Create a scan with at most max_keys scan keys.  No other scan may use the reader.
 */
HammingScan *
hamming_scan_create(LeafReader *reader, int max_keys)
{
	HammingScan *scan = palloc0(sizeof(HammingScan));

	scan->reader = reader;
	scan->balls = palloc((max_keys + 1) * sizeof(SimHashBall));
	scan->design = meta_get(reader->index)->design;
	scan->nfree = InvalidBlockNumber;
	scan->plans.nrows = -1;		/* not initialized yet */
	return scan;
}

/* --- matching ------------------------------------------------------------------ */

/*
 * Return true if the search must return a row with this fingerprint.  The fingerprint
 * must be within all balls.  Also, the current permuted table must be the first one in
 * which the search finds the fingerprint.
 */
static bool
match_qualifies(const HammingScan *scan, SimHash fp)
{
	for (int i = 0; i < scan->nballs; i++)
		if (!simhash_ball_contains(&scan->balls[i], fp))
			return false;
	return probing_is_first(&scan->probing, scan->reader->range.probed,
							fp ^ scan->probing.query);
}

/*
 * Add the TIDs of a leaf's matches to reader->tids, and their distances to `distance`, as a
 * CollectMatches function does.
 */
static void
collect_matches(LeafReader *reader, void *search, Buffer buffer, int from, int to,
				bool bound_met)
{
	HammingScan *scan = search;
	const uint64 *keys = page_keys(BufferGetPage(buffer)) + from;
	const PermutedTable *table = &scan->design.table[reader->range.table];
	SimHash		center = scan->queue ? scan->query : scan->balls[0].center;
	int			radius = scan->queue ? scan->last_radius : scan->balls[0].radius;
	uint64		query = design_key(table, center);
	MatchRule	rule = {.radius = radius};
	KeyMatch	matches[MAX_LEAF_ENTRIES];
	int			n = match_keys(&query, 1, keys, to - from, &rule, matches);

	scan->nentries += to - from;
	for (int i = 0; i < n; i++)
	{
		int			position = matches[i].key;
		uint64		key = keys[position];
		SimHash		fp;
		int			distance = 0;

		if (key > reader->range.high ||
			!(bound_met || leaf_reader_meets_bound(reader, buffer, from + position)))
			continue;
		fp = design_fingerprint(table, key);
		if (scan->queue)
		{
			distance = simhash_distance(fp, scan->query);
			if (distance <= scan->completed_radius)
				continue;
		}
		if (match_qualifies(scan, fp))
		{
			scan->distance[reader->ntids] = distance;
			reader->tids[reader->ntids++] = *leaf_checked_tid(reader->index, buffer,
															  from + position);
		}
	}
}

/*
 * Fetch the range of the next probe (NextRange).
 */
static bool
next_probe(void *search, KeyRange *range)
{
	return probing_next(&((HammingScan *) search)->probing, range);
}

/*
 * Start to probe within a radius of `center`, according to the chosen probe plan.
 */
static void
start_probing(HammingScan *scan, SimHash center, int radius)
{
	bool		all_match = scan->nballs == 0 && scan->queue == NULL &&
		scan->chosen->kind == PROBE_PLAN_FULL;

	probing_start(&scan->probing, &scan->design, scan->chosen, center, radius);
	leaf_reader_start(scan->reader, next_probe, all_match ? NULL : collect_matches, scan);
	scan->drain_queue = false;
}

/*
 * Read leaves until one has matches within scan->radius.  Sets reader->tids to these
 * matches.  Returns false after the last probe.
 *
 * Matches beyond the radius are added to the queue only after the leaf has been unlocked,
 * because the queue may write to disk.
 */
static bool
read_matches(HammingScan *scan)
{
	LeafReader *reader = scan->reader;

	if (scan->queue == NULL)
		return leaf_reader_next(reader);
	while (leaf_reader_read(reader))
	{
		int			n = reader->ntids;

		reader->ntids = 0;
		for (int i = 0; i < n; i++)
		{
			if (scan->distance[i] <= scan->radius)
				reader->tids[reader->ntids++] = reader->tids[i];
			else
				distance_queue_add(scan->queue, scan->distance[i], &reader->tids[i]);
		}
		scan->last_radius = Min(scan->last_radius, distance_queue_farthest(scan->queue));
		if (reader->ntids > 0)
			return true;
	}
	return false;
}

/* --- the growing radius ---------------------------------------------------------- */

/*
 * Bound the distances of matches from the query.  Every match is within all balls, so the
 * bounds follow from the triangle inequality.  Sets completed_radius and max_radius.
 */
static void
bound_distances(HammingScan *scan)
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
 * Return the cheapest probe plan that finds all matches within a radius of the query.  If
 * it is cheaper to probe around the smallest ball, returns the cheapest probe plan for
 * that ball, and sets *probes_ball to true.  Otherwise sets *probes_ball to false.
 */
static const ProbePlan *
choose_plan(HammingScan *scan, int radius, bool *probes_ball)
{
	double		cost;
	double		ball_cost = HUGE_VAL;
	const ProbePlan *plan = probe_plans_choose(&scan->plans, radius, &cost);
	const ProbePlan *ball_plan = scan->nballs == 0 ? NULL :
		probe_plans_choose(&scan->plans, scan->balls[0].radius, &ball_cost);

	*probes_ball = ball_cost < cost;
	return *probes_ball ? ball_plan : plan;
}

/* Return the radius of the probes that find all matches within scan->radius. */
static inline int
probe_radius(const HammingScan *scan)
{
	return scan->probes_ball ? scan->balls[0].radius : scan->radius;
}

/*
 * Begin a phase, which returns matches at distances greater than completed_radius.
 *
 * If the probe plan is that of the previous phase, the queue may have dropped matches
 * that this phase returns.  Then the queue gets a higher limit.  If the limit has reached
 * work_mem and the phase finds all remaining matches at once, the queue sorts the matches
 * and drops none.
 */
static void
begin_phase(HammingScan *scan)
{
	const ProbePlan *last = scan->chosen;
	bool		probes_ball;
	bool		single_pass;

	scan->radius = scan->last_radius = scan->completed_radius + 1;
	scan->chosen = choose_plan(scan, scan->radius, &scan->probes_ball);
	single_pass = scan->probes_ball || scan->chosen->kind == PROBE_PLAN_FULL;
	if (single_pass)
		scan->last_radius = scan->max_radius;
	while (scan->last_radius < scan->max_radius &&
		   choose_plan(scan, scan->last_radius + 1, &probes_ball) == scan->chosen &&
		   !probes_ball)
		scan->last_radius++;

	if (scan->chosen == last)
		distance_queue_enlarge(scan->queue, single_pass);
	else
		distance_queue_reset(scan->queue);
	start_probing(scan, scan->probes_ball ? scan->balls[0].center : scan->query,
				  probe_radius(scan));
}

/*
 * Set reader->tids to queued matches at the radius, while drain_queue is true.  Returns
 * false if no such matches are left.  Then it also sets drain_queue to false, and starts
 * the probes that find the other matches at this radius.
 */
static bool
fetch_queued(HammingScan *scan)
{
	LeafReader *reader = scan->reader;

	if (!scan->drain_queue)
		return false;
	reader->ntids = distance_queue_fetch(scan->queue, scan->radius, reader->tids,
										MAX_LEAF_ENTRIES);
	if (reader->ntids > 0)
		return true;
	probing_extend(&scan->probing, probe_radius(scan));
	scan->drain_queue = false;
	return false;
}

/*
 * Advance to the next radius, after all matches within the current radius have been
 * returned.  Begins a new phase if the current radius is the last one of the phase.
 * Returns false after the greatest radius at which there may be a match (max_radius).
 */
static bool
advance_radius(HammingScan *scan)
{
	if (scan->radius == scan->max_radius)
		return false;
	if (scan->radius < scan->last_radius)
	{
		scan->radius++;
		scan->drain_queue = true;
	}
	else
	{
		scan->completed_radius = scan->radius;
		begin_phase(scan);
	}
	return true;
}

/* --- conditions and order -------------------------------------------------------- */

/*
 * Get the balls of the scan keys: their arguments, or for =, a ball of radius 0 around the
 * argument.  The first one has the smallest radius.  Without a ball, it contains all
 * fingerprints.  Returns false if a ball is empty, so that no row matches.
 */
static bool
read_balls(HammingScan *scan, const ScanKeyData *keys, int nkeys)
{
	scan->nballs = 0;
	scan->balls[0] = (SimHashBall) {.radius = SIMHASH_BITS};
	for (int i = 0; i < nkeys; i++)
	{
		SimHashBall ball = {0};

		if (keys[i].sk_flags & SK_ISNULL)
			continue;			/* IS NOT NULL */
		if (keys[i].sk_strategy == STRATEGY_EQUAL)
			ball.center = DatumGetSimHash(keys[i].sk_argument);
		else
			ball = *DatumGetSimHashBallP(keys[i].sk_argument);
		if (ball.radius < 0)
			return false;

		/* keep the smallest ball first, because the search may probe around it */
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
 * Get the query of ORDER BY.  If the query is NULL, the distance of every row is NULL,
 * and the search has no order.  Creates the queue for a search with an order, else frees it.
 */
static void
read_order(HammingScan *scan, const ScanKeyData *order)
{
	bool		ordered = order && !(order->sk_flags & SK_ISNULL);

	if (ordered)
		scan->query = DatumGetSimHash(order->sk_argument);
	if (ordered && scan->queue == NULL)
		scan->queue = distance_queue_create(GetMemoryChunkContext(scan));
	else if (!ordered && scan->queue)
	{
		distance_queue_free(scan->queue);
		scan->queue = NULL;
	}
}

/*
 * Return an estimate of the number of rows, computed from the number of pages in the
 * trees.  Reads the number of free pages only once in a scan.  That number is in the
 * metapage, and all processes that split pages compete for the lock of the metapage.
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
 * Begin a search for the rows that match nkeys scan keys.  `order` is the scan key of
 * ORDER BY, or NULL.  Returns false if a ball is empty, so that no row matches.  A search
 * with an order also returns false if bound_distances() finds that no fingerprint is
 * within all balls.
 */
bool
hamming_scan_begin(HammingScan *scan, const ScanKeyData *keys, int nkeys,
				   const ScanKeyData *order)
{
	double		cost;
	double		nrows = ROWS_UNKNOWN;

	scan->nentries = 0;
	scan->radius = 0;			/* a search without an order has radius 0 */
	read_order(scan, order);
	if (!read_balls(scan, keys, nkeys))
		return false;

	/* the choice of an obvious probe plan does not depend on the number of rows */
	if (scan->queue || !probe_plan_is_obvious(&scan->design, scan->balls[0].radius))
		nrows = estimate_rows(scan);
	if (nrows != scan->plans.nrows)
		probe_plans_init(&scan->plans, &scan->design, nrows);
	if (scan->queue == NULL)
	{
		scan->chosen = probe_plans_choose(&scan->plans, scan->balls[0].radius, &cost);
		start_probing(scan, scan->balls[0].center, scan->balls[0].radius);
		return true;
	}
	bound_distances(scan);
	scan->chosen = NULL;
	if (scan->completed_radius >= scan->max_radius)
		return false;
	begin_phase(scan);
	return true;
}

/*
 * Set reader->tids to the TIDs of the next matches.  If the search has an order, all
 * these matches have the distance scan->radius.  Returns false after the last TID.
 */
bool
hamming_scan_next(HammingScan *scan)
{
	do
	{
		if (fetch_queued(scan) || read_matches(scan))
			return true;
	} while (scan->queue && advance_radius(scan));
	return false;
}

/*
 * Free the scan.
 */
void
hamming_scan_end(HammingScan *scan)
{
	if (scan->queue)
		distance_queue_free(scan->queue);
	pfree(scan->balls);
	pfree(scan);
}
