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
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "bits.h"
#include "compat.h"
#include "index/access_method.h"
#include "index/opclass_lookup.h"
#include "index/params.h"
#include "index/simhash/probe_plan.h"
#include "index/tree/meta.h"
#include "planner/elements.h"
#include "planner/selectivity.h"
#include "type/simhash_type.h"
#include "type/strategy.h"

/*
 * Minimum selectivity of a condition whose radius is unknown until execution.  It makes
 * the planner prefer a bitmap scan to fetching the rows one by one.  So the plan is not a
 * bad one if the radius turns out to be large.  It is not used for scans with the nearest
 * rows first, because a LIMIT usually ends such scans.
 */
#define UNKNOWN_RADIUS_SELECTIVITY	0.001

/*
 * Cost of comparing an entry with the query: an XOR and a population count, but no
 * function call.
 */
#define ENTRY_COST		(0.1 * cpu_operator_cost)

/* Estimated fraction of the query keys that a matching row contains.  Not used for &&. */
#define MATCHED_FRACTION	0.5

/*
 * CPU cost of a descent and of reading its first leaf.  It is that of a descent through
 * two pages as nbtree charges it.  It matters in nested loops, which find most pages in
 * memory.
 */
#define DESCENT_COST		(100.0 * cpu_operator_cost)

/* Estimates of what a scan reads. */
typedef struct ScanEstimate
{
	double		descents;
	double		pages;			/* number of leaves */
	double		entries;
} ScanEstimate;

/* --- searches ----------------------------------------------------------------- */

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
add_near(PlannerInfo *root, Oid operator, Node *argument, Searches *searches)
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
		add_near(root, operator, argument, searches);
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
		ArrayType  *value = DatumGetArrayTypeP(((Const *) array)->constvalue);
		int16		length;
		bool		byval;
		char		align;
		Datum	   *balls;
		bool	   *nulls;
		int			n;

		get_typlenbyvalalign(ARR_ELEMTYPE(value), &length, &byval, &align);
		deconstruct_array(value, ARR_ELEMTYPE(value), length, byval, align,
						  &balls, &nulls, &n);
		for (int i = 0; i < n; i++)
			add_search(searches, nulls[i] ? BALL_EMPTY :
					   simhash_clamp_radius(DatumGetSimHashBallP(balls[i])->radius),
					   true, NULL, 1);
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

/* --- pages and entries -------------------------------------------------------- */

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
}

/*
 * Estimate what a scan reads in total (*all), and what it reads before its first row
 * (*first).  The caller must set both to zero before.  *first is changed only if the scan
 * has an order.
 *
 * A scan with the nearest rows first goes on until it has returned all rows.  If the scan
 * has a ball around the center of the order, it ends with the rows of the ball.  If it
 * has a ball around another center, it is assumed to read everything before its first
 * row.
 */
static void
estimate_scan(IndexPath *path, const Searches *searches, Selectivity selectivity,
			  ScanEstimate *first, ScanEstimate *all)
{
	IndexOptInfo *info = path->indexinfo;
	ProbePlans	plans;

	if (searches->nulls)
	{
		all->descents = 1;
		all->entries = selectivity * info->tuples;
		all->pages = 1 + floor(all->entries / ENTRIES_PER_LEAF);
		return;
	}
	get_probe_plans(info, &plans);
	for (int radius = BALL_EMPTY; radius <= SIMHASH_BITS; radius++)
		if (searches->count[radius - BALL_EMPTY] > 0)
			add_searches(all, &plans, radius, searches->count[radius - BALL_EMPTY]);
	if (path->indexorderbys != NIL)
	{
		OpExpr	   *order = linitial(path->indexorderbys);

		if (searches->center && !equal(searches->center, lsecond(order->args)))
			*first = *all;
		else
			add_searches(first, &plans, Min(searches->min_radius,
											 selectivity_nearest_radius(info->tuples)), 1);
	}
}

/*
 * Return the estimated number of query keys of a clause with an operator.  Returns
 * HUGE_VAL for a clause without one, and if the clause needs a full index scan.  Sets
 * *unknown to true if it may turn out to need one.
 */
static double
estimate_query_keys(PlannerInfo *root, const MultiKeyMethods *methods, int32 params,
					int strategy, Expr *clause, bool *unknown)
{
	if (IsA(clause, OpExpr))
		return methods->estimate_query_keys(root, params, strategy, (OpExpr *) clause, unknown);
	if (IsA(clause, ScalarArrayOpExpr))
		return methods->estimate_query_keys(root, params, InvalidStrategy, NULL, unknown) *
			estimate_elements(root, lsecond(((ScalarArrayOpExpr *) clause)->args));
	return HUGE_VAL;
}

/*
 * Estimate what a scan of a multi-key index reads in total (*all), and what it reads
 * before its first row (*first).  The caller must set both to zero before.  *first is
 * changed only if the scan has an order.  Returns true if the scan may turn out to be a
 * full index scan.
 *
 * A scan has a descent for each query key, and reads an entry for each query key that a
 * matching row contains.  A full index scan reads all entries.  If there are several
 * clauses, the scan is assumed to use the clause with the fewest query keys.  (In fact it
 * prefers the clause with the greatest min_match, which is not estimated:
 * best_query_keys.)  If all operators need a full index scan, sets *selectivity to 1,
 * because such a scan fetches all rows.  A scan for <@ fetches the rows that && matches,
 * so *selectivity is at least their fraction.
 */
static bool
estimate_keys(PlannerInfo *root, IndexPath *path, const Opclass *opclass,
			  Selectivity *selectivity, ScanEstimate *first, ScanEstimate *all)
{
	IndexOptInfo *info = path->indexinfo;
	const MultiKeyMethods *methods = opclass->multi_key;
	int32		params = opclass->params && !info->hypothetical ?
		params_of_index(info->indexoid) : NO_PARAMS;
	double		nkeys = HUGE_VAL;
	double		entries_per_row = 1;
	bool		has_operator = false;
	bool		several_per_row = false;
	bool		nulls = false;
	bool		unknown = false;
	Selectivity overlap = 0;
	ListCell   *lc;

	foreach(lc, get_quals_from_indexclauses(path->indexclauses))
	{
		Expr	   *clause = lfirst_node(RestrictInfo, lc)->clause;
		int			strategy = IsA(clause, OpExpr) ?
			get_op_opfamily_strategy(((OpExpr *) clause)->opno, info->opfamily[0]) :
			InvalidStrategy;
		double		n = estimate_query_keys(root, methods, params, strategy, clause, &unknown);

		has_operator |= IsA(clause, OpExpr);
		nulls |= IsA(clause, NullTest) && ((NullTest *) clause)->nulltesttype == IS_NULL;
		if (n >= nkeys)
			continue;
		nkeys = n;
		several_per_row = IsA(clause, OpExpr) && strategy != STRATEGY_OVERLAP &&
			strategy != STRATEGY_CONTAINED;
		overlap = 0;
		if (strategy == STRATEGY_CONTAINED)
		{
			OpExpr	   *op = (OpExpr *) clause;
			Predicate	predicate = predicate_of_overlap(get_opcode(op->opno), op->args);

			overlap = elements_selectivity(root, &predicate, JOIN_INNER, NULL);
		}
	}
	*selectivity = Max(*selectivity, overlap);
	if (nulls)
		nkeys = 1;
	if (has_operator && isinf(nkeys))
		*selectivity = 1;
	if (several_per_row && !isinf(nkeys))
		entries_per_row = Max(1, MATCHED_FRACTION * nkeys);
	all->descents = isinf(nkeys) ? 1 : nkeys;
	all->entries = isinf(nkeys) ? (double) info->pages * ENTRIES_PER_LEAF :
		*selectivity * info->tuples * entries_per_row;
	all->pages = all->descents + floor(all->entries / ENTRIES_PER_LEAF);

	/* an ordered scan begins with rows that contain any of the query keys */
	if (path->indexorderbys != NIL)
	{
		OpExpr	   *order = linitial(path->indexorderbys);

		first->descents = first->pages =
			methods->estimate_query_keys(root, params, STRATEGY_CONTAINMENT, order, &unknown);
	}
	return unknown;
}

/*
 * Return the cost of reading what *estimate contains.  Each descent reads one random
 * page.  The pages after that page are read sequentially.  Repeated scans, and repeated
 * searches of a scan, find pages in the cache, as for any other index.
 */
static Cost
cost_of_reading(PlannerInfo *root, IndexOptInfo *info, const ScanEstimate *estimate,
				double loop_count)
{
	double		random_page_cost;
	double		seq_page_cost;
	double		random = Min(estimate->descents, estimate->pages);
	double		cached = 1;

	get_tablespace_page_costs(info->reltablespace, &random_page_cost, &seq_page_cost);
	if (estimate->pages > 0 && (loop_count > 1 || estimate->pages > info->pages))
	{
		double		pages = estimate->pages * loop_count;

		cached = index_pages_fetched(pages, info->pages, info->pages, root) / pages;
	}
	return cached * (random * random_page_cost +
					 (estimate->pages - random) * seq_page_cost) +
		estimate->descents * DESCENT_COST + estimate->entries * ENTRY_COST;
}

/*
 * Turn an index-only scan into a plain index scan.  Returns the cost to add for the
 * visits of all-visible heap pages, or 0 if the path is not an index-only scan.
 *
 * The planner considers an index-only scan if all needed columns are in the index.  A
 * query that needs no column fulfils this condition.  For such a query, the planner does
 * not check whether the index can return a column.
 *
 * An index-only scan does not visit heap pages that are all-visible.  This is correct
 * only while vacuum cannot remove a row whose TID was read from the index.  On a primary,
 * a pin on the leaf would prevent vacuum from removing the row.  On a standby, nothing
 * prevents it.  So the path becomes a plain index scan here, before the planner compares
 * it with other paths.
 *
 * The caller of amcostestimate is cost_index().  For an index-only path, it charges no
 * visits of all-visible pages.  So this function returns the cost of these visits.  (The
 * cost of a bitmap scan is computed from the same result, and is then too high.  That
 * matters to partial indexes only.)
 */
static Cost
avoid_index_only_scan(PlannerInfo *root, IndexPath *path, Selectivity selectivity,
				  double loop_count)
{
	RelOptInfo *rel = path->indexinfo->rel;
	double		random_page_cost;
	double		pages;

	if (path->path.pathtype != T_IndexOnlyScan)
		return 0;
	path->path.pathtype = T_IndexScan;
	get_tablespace_page_costs(rel->reltablespace, &random_page_cost, NULL);
	pages = index_pages_fetched(clamp_row_est(selectivity * rel->tuples) * loop_count,
								rel->pages, path->indexinfo->pages, root);
	pages -= ceil(pages * (1.0 - rel->allvisfrac));
	return pages * random_page_cost / loop_count;
}

/*
 * Remove the order from a path with several ORDER BY operators.  PostgreSQL then sorts
 * the rows of the path.
 *
 * PostgreSQL passes any number of distances to an access method with amcanorderbyop.
 * This access method supports one distance.  A high cost would not be a solution.
 * PostgreSQL makes one path for the conditions and the order together.  So there would be
 * no cheap index scan for the conditions alone.
 */
static void
remove_multiple_distances(IndexPath *path)
{
	if (list_length(path->indexorderbys) > 1)
	{
		path->path.pathkeys = NIL;
		path->indexorderbys = path->indexorderbycols = NIL;
	}
}

/*
 * amcostestimate: estimate the costs, the selectivity, the correlation and the number of
 * pages of a scan.
 */
void
simhash_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
					 Cost *startup_cost, Cost *total_cost,
					 Selectivity *selectivity, double *correlation,
					 double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	List	   *quals = get_quals_from_indexclauses(path->indexclauses);
	List	   *selectivity_quals = NIL;
	const Opclass *opclass = opclass_of_family(info->opfamily[0], info->opcintype[0]);
	Searches	searches = {0};
	ScanEstimate first = {0};
	ScanEstimate all = {0};
	double		ntuples = 0;	/* number of index entries that the scan reads */
	QualCost	qual_cost;
	ListCell   *lc;

	remove_multiple_distances(path);

	/* a clause knows better than the operator in the index condition made from it */
	foreach(lc, path->indexclauses)
		selectivity_quals = lappend(selectivity_quals, lfirst_node(IndexClause, lc)->rinfo);
	selectivity_quals = add_predicate_to_index_quals(info, selectivity_quals);
	*selectivity = clauselist_selectivity(root, selectivity_quals, info->rel->relid,
										  JOIN_INNER, NULL);
	if (opclass && opclass->multi_key)
	{
		searches.unknown = estimate_keys(root, path, opclass, selectivity, &first, &all);
		ntuples = all.entries;
	}
	else
	{
		read_path(root, path, &searches);
		estimate_scan(path, &searches, *selectivity, &first, &all);
	}
	if (searches.unknown && path->indexorderbys == NIL)
		*selectivity = Max(*selectivity, UNKNOWN_RADIUS_SELECTIVITY);
	ntuples = Max(ntuples, *selectivity * info->tuples);
	*correlation = 0;
	*pages = all.pages;

	/* the arguments of the clauses are computed once */
	cost_qual_eval(&qual_cost, quals, root);
	*startup_cost = DESCENT_COST + qual_cost.startup + qual_cost.per_tuple;
	*total_cost = *startup_cost + ntuples * cpu_index_tuple_cost +
		cost_of_reading(root, info, &all, loop_count) +
		avoid_index_only_scan(root, path, *selectivity, loop_count);
	*startup_cost += cost_of_reading(root, info, &first, loop_count);
	/* for a long passage and a small index, `first` may cost more than `all` */
	*total_cost = Max(*total_cost, *startup_cost);
}
