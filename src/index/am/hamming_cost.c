/*
 * What a scan by Hamming distance reads, from its radius and the design
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "index/am/hamming_cost.h"
#include "index/simhash/probe_plan.h"
#include "index/tree/meta.h"
#include "planner/selectivity.h"
#include "type/simhash_type.h"

/* The searches of a scan. */
typedef struct Searches
{
	double		count;			/* number of searches, one for each element of an array */
	int			radius;			/* in bits, the smallest of several clauses */
	bool		nulls;			/* true if the scan searches for NULLs rather than for
								 * fingerprints */
	bool		unknown;		/* true if the radius is assumed, because it is not known */
	Node	   *center;			/* center of the smallest ball; NULL if there is no ball, or if its
								 * center is not known */
} Searches;

/*
 * Set *searches to the searches of a path.  A scan combines the searches of its clauses, each
 * with each, and searches within the smaller radius.  A path without clauses has one search,
 * which is for all rows.
 */
static void
read_searches(PlannerInfo *root, IndexPath *path, Searches *searches)
{
	ListCell   *lc;

	*searches = (Searches) {.count = 1,.radius = SIMHASH_BITS};
	foreach(lc, get_quals_from_indexclauses(path->indexclauses))
	{
		Node	   *clause = (Node *) lfirst_node(RestrictInfo, lc)->clause;
		Condition	ball;
		bool		known;
		int			radius;

		searches->nulls |= IsA(clause, NullTest) &&
			((NullTest *) clause)->nulltesttype == IS_NULL;
		if (!condition_read_search(root, clause, path->indexinfo->opfamily[0], &ball))
			continue;
		searches->count *= ball.count;
		radius = condition_radius(root, ball.distance, ball.radius, &known);
		if (radius <= searches->radius)
		{
			searches->radius = radius;
			searches->unknown = !known;
			searches->center = ball.b;
		}
	}
}

/*
 * Set *plans to the probe plans of an index, as a scan does.  A hypothetical index has no
 * metapage to read a design from, so it is assumed to have the default design.
 */
static void
get_probe_plans(IndexOptInfo *info, ProbePlans *plans)
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
	probe_plans_init(plans, &design, info->tuples);
}

/*
 * Add to *estimate what n searches with a radius read, if fingerprints are spread evenly.
 * Uses the probe plan that the scan would choose.  Adds nothing if the radius is
 * negative, because an empty ball matches nothing.
 */
static void
add_searches(ScanEstimate *estimate, ProbePlans *plans, int radius, double n)
{
	const ProbePlan *plan;
	double		cost;
	double		descents;
	double		entries;

	if (radius < 0)
		return;
	plan = probe_plans_choose(plans, radius, &cost);
	descents = probe_plan_count_probes(plan, radius);
	entries = probe_plan_count_entries(plan, radius, plans->nrows);
	estimate->descents += n * descents;
	estimate->entries += n * entries;
	estimate->pages += n * (descents + floor(entries / ENTRIES_PER_LEAF));
	estimate->max_fraction = Max(estimate->max_fraction,
								 probe_plan_count_tables(plan, radius) /
								 (double) design_count_tables(&plan->design));
}

/*
 * Estimate what a scan reads in total (*all), and what it reads before its first row
 * (*first).  The caller must set both to zero before.  *first is changed only if the scan
 * has an order.  Returns true if a radius is not known.
 *
 * A scan with the nearest rows first goes on until it has returned all rows.  If the scan
 * has a ball around the center of the order, it ends with the rows of the ball.  If it
 * has a ball around another center, it is assumed to read everything before its first
 * row.
 */
bool
hamming_cost_estimate(PlannerInfo *root, IndexPath *path, Selectivity selectivity,
					  ScanEstimate *first, ScanEstimate *all)
{
	IndexOptInfo *info = path->indexinfo;
	Searches	searches;
	ProbePlans	plans;

	read_searches(root, path, &searches);
	if (searches.nulls)
	{
		all->descents = 1;
		all->entries = selectivity * info->tuples;
		all->pages = 1 + floor(all->entries / ENTRIES_PER_LEAF);
		all->max_fraction = 1;
		return searches.unknown;
	}
	get_probe_plans(info, &plans);
	add_searches(all, &plans, searches.radius, searches.count);
	if (path->indexorderbys != NIL)
	{
		OpExpr	   *order = linitial(path->indexorderbys);

		if (searches.center && !equal(searches.center, lsecond(order->args)))
			*first = *all;
		else
			add_searches(first, &plans, Min(searches.radius,
											selectivity_nearest_radius(info->tuples)), 1);
	}
	return searches.unknown;
}
