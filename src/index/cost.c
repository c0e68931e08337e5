/*-------------------------------------------------------------------------
 *
 * cost.c
 *		Cost of an index scan, from its radius and the design
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "index/handler.h"
#include "index/meta.h"
#include "index/probe.h"
#include "type/simhash.h"

/* For balls that are not known before execution: an everyday radius. */
#define UNKNOWN_RADIUS	8

/* Comparing an entry is an XOR and a population count, not a function call. */
#define ENTRY_COST		(0.1 * cpu_operator_cost)

/* As nbtree charges for each page of a descent. */
#define DESCENT_PAGE_COST	(50.0 * cpu_operator_cost)

/* What a scan reads. */
typedef struct ScanEstimate
{
	double		descents;
	double		pages;			/* leaves */
	double		entries;
} ScanEstimate;

/*
 * The radius of a ball, of which only the constant parts are known.
 */
static int
estimate_radius(Node *ball)
{
	if (IsA(ball, Const))
	{
		if (((Const *) ball)->constisnull)
			return BALL_EMPTY;
		return DatumGetSimHashBallP(((Const *) ball)->constvalue)->radius;
	}
	/* simhash_ball(center, radius) */
	if (IsA(ball, FuncExpr) && list_length(((FuncExpr *) ball)->args) == 2)
	{
		Node	   *radius = lsecond(((FuncExpr *) ball)->args);

		if (IsA(radius, Const) && ((Const *) radius)->consttype == INT8OID &&
			!((Const *) radius)->constisnull)
			return simhash_clamp_radius(DatumGetInt64(((Const *) radius)->constvalue));
	}
	return UNKNOWN_RADIUS;
}

/*
 * Whether a query is the center of a ball, or what is searched for by equality.
 */
static bool
is_center(Node *query, Node *ball)
{
	if (IsA(ball, FuncExpr) && list_length(((FuncExpr *) ball)->args) == 2)
		return equal(query, linitial(((FuncExpr *) ball)->args));
	if (IsA(ball, Const) && IsA(query, Const) &&
		((Const *) ball)->consttype != ((Const *) query)->consttype)
		return !((Const *) ball)->constisnull && !((Const *) query)->constisnull &&
			DatumGetSimHashBallP(((Const *) ball)->constvalue)->center ==
			DatumGetSimHash(((Const *) query)->constvalue);
	return equal(query, ball);
}

/*
 * The radius that bounds a scan: the smallest of its clauses', whose argument goes
 * to *ball.  Everything, and NULL, where there is none.
 */
static int
smallest_radius(IndexPath *path, Node **ball)
{
	int			smallest = SIMHASH_BITS;
	ListCell   *lc;
	ListCell   *lc2;

	*ball = NULL;
	foreach(lc, path->indexclauses)
	{
		foreach(lc2, lfirst_node(IndexClause, lc)->indexquals)
		{
			Expr	   *clause = lfirst_node(RestrictInfo, lc2)->clause;
			OpExpr	   *op = (OpExpr *) clause;
			Node	   *argument;
			int			radius = 0;

			if (IsA(clause, NullTest) &&
				((NullTest *) clause)->nulltesttype == IS_NULL)
				return BALL_EMPTY;
			if (!IsA(clause, OpExpr))
				continue;
			argument = lsecond(op->args);
			if (get_op_opfamily_strategy(op->opno, path->indexinfo->opfamily[0]) ==
				STRATEGY_WITHIN)
				radius = estimate_radius(argument);
			if (radius < smallest)
			{
				smallest = radius;
				*ball = argument;
			}
		}
	}
	return smallest;
}

/*
 * The covers of an index, as a scan has them.  A hypothetical one has no pages
 * to read its design from.
 */
static void
get_covers(IndexOptInfo *info, Covers *covers)
{
	Design		design;

	if (info->hypothetical)
		design_init(&design, &DESIGN_DEFAULT);
	else
	{
		Relation	index = index_open(info->indexoid, NoLock);

		design = meta_get(index)->design;
		index_close(index, NoLock);
	}
	covers_init(covers, &design, info->tuples);
}

/*
 * What a search reads, if fingerprints are spread evenly, by the cover that the
 * scan would choose too.
 */
static ScanEstimate
estimate_search(const Covers *covers, int radius)
{
	ScanEstimate estimate = {1, 1, 0};
	const Cover *cover;
	double		cost;

	if (radius < 0)
		return estimate;
	cover = covers_choose(covers, radius, &cost);
	estimate.descents = cover_count_probes(cover, radius);
	estimate.entries = cover_count_entries(cover, radius, covers->nrows);
	estimate.pages = estimate.descents + floor(estimate.entries / ENTRIES_PER_LEAF);
	return estimate;
}

/*
 * The distance of the nearest of so many rows, if they are spread evenly.
 */
static int
nearest_radius(double nrows)
{
	double		combinations = 1;
	double		within = 1;		/* fingerprints, of 2^64 */
	int			radius = 0;

	while (radius < SIMHASH_BITS && within * nrows < ldexp(1, SIMHASH_BITS))
	{
		combinations = combinations * (SIMHASH_BITS - radius) / (radius + 1);
		within += combinations;
		radius++;
	}
	return radius;
}

/*
 * What a scan reads in all, and before its first row.  One that gives the nearest
 * rows first goes on until all rows have been read, or those within a ball around
 * the same center.
 */
static void
estimate_scan(IndexPath *path, ScanEstimate *first, ScanEstimate *all)
{
	IndexOptInfo *info = path->indexinfo;
	Covers		covers;
	Node	   *ball;
	int			radius = smallest_radius(path, &ball);
	OpExpr	   *order;

	get_covers(info, &covers);
	*all = estimate_search(&covers, radius);
	memset(first, 0, sizeof(ScanEstimate));
	if (path->indexorderbys == NIL)
		return;
	*first = *all;
	order = linitial(path->indexorderbys);
	if (ball == NULL || is_center(lsecond(order->args), ball))
		*first = estimate_search(&covers, Min(radius, nearest_radius(info->tuples)));
}

/*
 * The cost of reading; repeated scans find pages in the cache, as for any other
 * index.
 */
static Cost
cost_of_reading(PlannerInfo *root, IndexOptInfo *info, const ScanEstimate *estimate,
				double loop_count)
{
	double		random_page_cost;
	double		pages = estimate->pages;

	get_tablespace_page_costs(info->reltablespace, &random_page_cost, NULL);
	if (loop_count > 1)
		pages = index_pages_fetched(pages * loop_count, info->pages, info->pages,
									root) / loop_count;
	return pages * random_page_cost + estimate->descents * DESCENT_PAGE_COST +
		estimate->entries * ENTRY_COST;
}

/*
 * amcostestimate
 */
void
simhash_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
					 Cost *startup_cost, Cost *total_cost,
					 Selectivity *selectivity, double *correlation,
					 double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	List	   *quals = get_quals_from_indexclauses(path->indexclauses);
	List	   *selectivity_quals = add_predicate_to_index_quals(info, quals);
	ScanEstimate first;
	ScanEstimate all;
	QualCost	qual_cost;

	estimate_scan(path, &first, &all);
	*selectivity = clauselist_selectivity(root, selectivity_quals, info->rel->relid,
										  JOIN_INNER, NULL);
	*correlation = 0;
	*pages = all.pages;

	/* The clauses' arguments are computed once. */
	cost_qual_eval(&qual_cost, quals, root);
	*startup_cost = DESCENT_PAGE_COST + qual_cost.startup + qual_cost.per_tuple;
	*total_cost = *startup_cost + *selectivity * info->tuples * cpu_index_tuple_cost +
		cost_of_reading(root, info, &all, loop_count);
	*startup_cost += cost_of_reading(root, info, &first, loop_count);

	/* With several orders all rows are sorted before the first comes out. */
	if (list_length(path->indexorderbys) > 1)
	{
		double		nrows = Max(2.0, *selectivity * info->tuples);
		Cost		sort_cost = 2.0 * cpu_operator_cost * nrows * log2(nrows);

		*total_cost += sort_cost;
		*startup_cost = *total_cost;
	}
}
