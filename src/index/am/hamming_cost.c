/*
 * What a scan by Hamming distance reads, from its radius and the design
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "index/am/hamming_cost.h"
#include "index/simhash/probe_plan.h"
#include "index/tree/meta.h"
#include "planner/selectivity.h"
#include "type/simhash_type.h"
#include "type/strategy.h"

#define NRADII		(SIMHASH_BITS - BALL_EMPTY + 1)

/*
 * The searches of a scan.  A clause with an array has one search for each element of the
 * array.  Any other clause has one search.
 */
typedef struct Searches
{
	double		count[NRADII];	/* number of searches, by radius - BALL_EMPTY */
	bool		nulls;			/* true if the scan searches for NULLs rather
								 * than for fingerprints */
	bool		unknown;		/* true if min_radius is assumed, because the
								 * radius is not known */
	int			min_radius;		/* smallest radius, in bits */
	Node	   *center;			/* center of the smallest ball.  NULL if there
								 * is no ball, or if its center is not known. */
} Searches;

/*
 * Add n searches with a radius in bits, or BALL_EMPTY.  `known` is false if the radius is
 * only assumed.  `center` is the center of the ball, or NULL if it is not known.
 */
static void
add_search(Searches *searches, int radius, bool known, Node *center, double n)
{
	searches->count[radius - BALL_EMPTY] += n;
	if (radius <= searches->min_radius)
	{
		searches->min_radius = radius;
		searches->unknown = !known;
		searches->center = center;
	}
}

/*
 * Add a search for balls that match the ball `argument` by =~=.  This is a search for
 * centers within the radius of the argument.
 */
static void
add_near(PlannerInfo *root, Node *argument, Searches *searches)
{
	Const	   *ball = (Const *) estimate_expression_value(root, argument);

	if (!IsA(ball, Const))
	{
		bool		known;
		int			radius = predicate_radius(root, predicate_ball_radius(argument), &known);

		add_search(searches, radius, known, NULL, 1);
	}
	else if (ball->constisnull)
		add_search(searches, BALL_EMPTY, true, NULL, 1);
	else
		add_search(searches,
				   simhash_clamp_radius(DatumGetSimHashBallP(ball->constvalue)->radius),
				   true, NULL, 1);
}

/*
 * Add a search for the condition `column operator argument`.
 */
static void
add_operand(PlannerInfo *root, IndexOptInfo *info, Oid operator, Node *column,
			Node *argument, Searches *searches)
{
	int			strategy = get_op_opfamily_strategy(operator, info->opfamily[0]);
	Predicate	predicate;
	Selectivity otherwise;
	bool		known = true;
	int			radius;

	if (strategy == STRATEGY_NEAR)
		add_near(root, argument, searches);
	else if (strategy != STRATEGY_WITHIN)
		add_search(searches, 0, true, argument, 1);
	else if (!predicate_read_ball(root, &distance_hamming, operator,
								  list_make2(column, argument), &predicate,
								  &otherwise))
		add_search(searches, BALL_EMPTY, true, NULL, 1);
	else
	{
		radius = predicate_radius(root, predicate.radius, &known);
		add_search(searches, radius, known, predicate.b ? predicate.b : argument, 1);
	}
}

/*
 * Add a search for each element of an array of balls.  If the elements are unknown,
 * estimates their number, and assumes UNKNOWN_RADIUS for each.
 */
static void
add_balls(PlannerInfo *root, IndexOptInfo *info, ScalarArrayOpExpr *clause,
		  Searches *searches)
{
	Node	   *array = estimate_expression_value(root, lsecond(clause->args));

	if (IsA(array, Const) && !((Const *) array)->constisnull)
	{
		ArrayIterator balls = array_create_iterator(DatumGetArrayTypeP(((Const *) array)->constvalue),
													0, NULL);
		Datum		ball;
		bool		isnull;

		while (array_iterate(balls, &ball, &isnull))
			add_search(searches, isnull ? BALL_EMPTY :
					   simhash_clamp_radius(DatumGetSimHashBallP(ball)->radius), true, NULL, 1);
	}
	else if (IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims)
	{
		ListCell   *lc;

		foreach(lc, ((ArrayExpr *) array)->elements)
			add_operand(root, info, clause->opno, linitial(clause->args), lfirst(lc),
						searches);
	}
	else
		add_search(searches, UNKNOWN_RADIUS, false, NULL, estimate_elements(root, array));
}

/*
 * Set *searches to the searches of one clause, as if the scan had no other clause.
 */
static void
read_clause(PlannerInfo *root, IndexOptInfo *info, Expr *clause, Searches *searches)
{
	memset(searches, 0, sizeof(Searches));
	searches->min_radius = SIMHASH_BITS + 1;
	if (IsA(clause, OpExpr))
	{
		OpExpr	   *op = (OpExpr *) clause;

		add_operand(root, info, op->opno, linitial(op->args), lsecond(op->args), searches);
	}
	else if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *op = (ScalarArrayOpExpr *) clause;

		if (get_op_opfamily_strategy(op->opno, info->opfamily[0]) != STRATEGY_EQUAL)
			add_balls(root, info, op, searches);
		else
			add_search(searches, 0, true, NULL,
					   estimate_elements(root, lsecond(op->args)));
	}
	else
	{
		add_search(searches, SIMHASH_BITS, true, NULL, 1);
		searches->nulls = IsA(clause, NullTest) &&
			((NullTest *) clause)->nulltesttype == IS_NULL;
	}
}

/*
 * Combine the searches of two clauses into *all.  Each pair of searches, one of each
 * clause, becomes one search with the smaller radius of the two.
 */
static void
combine_searches(Searches *all, const Searches *other)
{
	double		count[NRADII] = {0};

	for (int i = 0; i < NRADII; i++)
		for (int j = 0; j < NRADII && all->count[i] > 0; j++)
			count[Min(i, j)] += all->count[i] * other->count[j];
	memcpy(all->count, count, sizeof(count));
	all->nulls |= other->nulls;
	if (other->min_radius < all->min_radius)
	{
		all->min_radius = other->min_radius;
		all->unknown = other->unknown;
		all->center = other->center;
	}
}

/*
 * Set *searches to the searches of a path.  A path without clauses has one search, which
 * is for all rows.
 */
static void
read_path(PlannerInfo *root, IndexPath *path, Searches *searches)
{
	ListCell   *lc;
	ListCell   *lc2;

	memset(searches, 0, sizeof(Searches));
	searches->min_radius = SIMHASH_BITS + 1;
	add_search(searches, SIMHASH_BITS, true, NULL, 1);
	foreach(lc, path->indexclauses)
	{
		foreach(lc2, lfirst_node(IndexClause, lc)->indexquals)
		{
			Searches	other;

			read_clause(root, path->indexinfo, lfirst_node(RestrictInfo, lc2)->clause,
						&other);
			combine_searches(searches, &other);
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

	read_path(root, path, &searches);
	if (searches.nulls)
	{
		all->descents = 1;
		all->entries = selectivity * info->tuples;
		all->pages = 1 + floor(all->entries / ENTRIES_PER_LEAF);
		all->max_fraction = 1;
		return searches.unknown;
	}
	get_probe_plans(info, &plans);
	for (int radius = BALL_EMPTY; radius <= SIMHASH_BITS; radius++)
		if (searches.count[radius - BALL_EMPTY] > 0)
			add_searches(all, &plans, radius, searches.count[radius - BALL_EMPTY]);
	if (path->indexorderbys != NIL)
	{
		OpExpr	   *order = linitial(path->indexorderbys);

		if (searches.center && !equal(searches.center, lsecond(order->args)))
			*first = *all;
		else
			add_searches(first, &plans, Min(searches.min_radius,
											selectivity_nearest_radius(info->tuples)), 1);
	}
	return searches.unknown;
}
