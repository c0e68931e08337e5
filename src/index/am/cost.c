/*
 * Cost of an index scan
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "compat.h"
#include "index/access_method.h"
#include "index/opclass.h"
#include "index/simhash/probe_plan.h"
#include "index/tree/tree.h"
#include "planner/planner.h"
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
	double		pages;			/* number of leaf pages that are read */
	double		entries;
	double		max_fraction;	/* the scan reads no more than this fraction of the index */
} ScanEstimate;

/*
 * Return the estimates of a scan that reads n entries of the whole index after its descents.
 */
static ScanEstimate
estimate_reading(double descents, double n)
{
	return (ScanEstimate) {descents, descents + floor(n / ENTRIES_PER_LEAF), n, 1};
}

/* --- Hamming distances --------------------------------------------------------- */

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
static bool
estimate_hamming(PlannerInfo *root, IndexPath *path, Selectivity selectivity,
				 ScanEstimate *first, ScanEstimate *all)
{
	IndexOptInfo *info = path->indexinfo;
	Searches	searches;
	ProbePlans	plans;

	condition_read_searches(root, path, &searches);
	if (searches.nulls)
	{
		*all = estimate_reading(1, selectivity * info->tuples);
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

/* --- keys ------------------------------------------------------------------------ */

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
 * Return the fraction of rows that a scan returns to be rechecked, or 0 if it returns only
 * rows that match.  For <@, these are the rows that && matches.  For <%@, these are the rows
 * that have as many query keys as a row within the radius.
 */
static Selectivity
fraction_rechecked(PlannerInfo *root, int strategy, OpExpr *op)
{
	Condition	condition;
	Selectivity otherwise;

	if (strategy == STRATEGY_CONTAINED ?
		!condition_read_call(get_opcode(op->opno), op->args, &condition) :
		strategy != STRATEGY_RESEMBLES ||
		!condition_read_operator(root, op->opno, op->args, &condition, &otherwise))
		return 0;
	condition.distance = &distance_containment;
	return array_estimate(root, &condition, false, JOIN_INNER, NULL);
}

/*
 * Return true if the order of a path is by Jaccard distance, of which the scan returns a lower
 * bound.
 */
static bool
order_is_jaccard(const IndexPath *path)
{
	return path->indexorderbys != NIL &&
		objects_distance(get_opcode(linitial_node(OpExpr, path->indexorderbys)->opno)) ==
		&distance_jaccard;
}

/*
 * Estimate what a scan of a multi-key index reads in total (*all), and what it reads
 * before its first row (*first).  The caller must set both to zero before.  Returns true if
 * the scan may turn out to be a full index scan.
 *
 * A scan for at least min_match keys reads the postings of all keys side by side, and finds a
 * leaf of rows before it returns the first one (posting_merge_next).  In a nested loop that is
 * its startup cost: of a semijoin or antijoin, core charges an outer row without a match
 * little else.  Alone, such a scan has the startup cost of the first key, as any other.
 * Otherwise a cursor, of which core expects a tenth of the rows to be fetched, as postgres_fdw
 * declares, would read a small table instead.
 *
 * A scan has a descent for each query key, and reads an entry for each query key that a
 * matching row contains.  A scan for @> ends at the first query key that no row contains.  So
 * it is assumed to have no more descents than an average row has entries.  A full index scan
 * reads all entries.  If there are several clauses, the scan is assumed to use the clause
 * with the fewest query keys.  (In fact it prefers the clause with the greatest min_match,
 * which is not estimated: best_query_keys.)  If all operators need a full index scan, sets
 * *selectivity to 1, because such a scan fetches all rows.  *selectivity is at least the
 * fraction of rows that are rechecked.  Sets *recheck_cost to the cost of such a row.
 *
 * With an order and a condition of several keys, the merge ends before the scan returns the
 * first row.  In order of Jaccard distance, the executor fetches rows until none can be nearer
 * than the first.  These are assumed to be the rows that have half of the query keys.  Sets
 * *reordered to their fraction.
 */
static bool
estimate_keys(PlannerInfo *root, IndexPath *path, const Opclass *opclass,
			  Selectivity *selectivity, Cost *recheck_cost, Selectivity *reordered,
			  ScanEstimate *first, ScanEstimate *all)
{
	IndexOptInfo *info = path->indexinfo;
	const MultiKeyMethods *methods = opclass->multi_key;
	int32		params = opclass->has_params && !info->hypothetical ?
		params_of_index(info->indexoid) : NO_PARAMS;
	double		nkeys = HUGE_VAL;
	double		max_descents = HUGE_VAL;
	bool		has_operator = false;
	bool		several_per_row = false;
	bool		merged = false;
	bool		nulls = false;
	bool		unknown = false;
	Selectivity rechecked = 0;
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
		merged = several_per_row && strategy != STRATEGY_SHARES_BAND;
		max_descents = strategy == STRATEGY_CONTAINS ?
			info->pages * (double) ENTRIES_PER_LEAF / Max(info->tuples, 1) : HUGE_VAL;
		rechecked = fraction_rechecked(root, strategy, (OpExpr *) clause);
		*recheck_cost = strategy != STRATEGY_RESEMBLES ? 0 :
			array_comparison_cost(array_count_elements(root, linitial(((OpExpr *) clause)->args)), nkeys);
	}
	*selectivity = Max(*selectivity, rechecked);
	if (nulls)
		nkeys = 1;
	if (has_operator && isinf(nkeys))
		*selectivity = 1;
	if (isinf(nkeys))
		*all = estimate_reading(1, (double) info->pages * ENTRIES_PER_LEAF);
	else
		*all = estimate_reading(Min(nkeys, max_descents), *selectivity * info->tuples *
								(several_per_row ? Max(1, MATCHED_FRACTION * nkeys) : 1));

	if (path->indexorderbys != NIL)
	{
		OpExpr	   *order = linitial(path->indexorderbys);
		double		n = methods->estimate_query_keys(root, params, STRATEGY_CONTAINMENT, order,
													 &unknown);

		if (merged && !isinf(nkeys))
			*first = *all;
		else
			*first = estimate_reading(n, 0);
		if (order_is_jaccard(path))
		{
			Condition	half = {.distance = &distance_containment,.function = get_opcode(order->opno),
			.a = linitial(order->args),.b = lsecond(order->args),.count = 1};

			*reordered = array_estimate(root, &half, false, JOIN_INNER, NULL);
			*reordered = Min(*reordered, *selectivity);
			*recheck_cost = array_comparison_cost(array_count_elements(root, half.a), n);
		}
	}
	else if (merged && path->path.param_info && !isinf(nkeys))
	{
		double		found = Min(1, ENTRIES_PER_LEAF / Max(*selectivity * info->tuples, 1));

		*first = estimate_reading(all->descents, found * all->entries);
	}
	return unknown;
}

/* --- costs ----------------------------------------------------------------------- */

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
	double		npages = ceil(info->pages * estimate->max_fraction);
	double		cached = 1;

	get_tablespace_page_costs(info->reltablespace, &random_page_cost, &seq_page_cost);
	if (estimate->pages > 0 && (loop_count > 1 || estimate->pages > info->pages))
	{
		double		pages = estimate->pages * loop_count;

		cached = index_pages_fetched(pages, npages, info->pages, root) / pages;
	}
	return cached * (random * random_page_cost +
					 (estimate->pages - random) * seq_page_cost) +
		estimate->descents * DESCENT_COST + estimate->entries * ENTRY_COST;
}

/*
 * Turn an index-only scan into a plain index scan.  Returns the cost to add for the
 * visits of all-visible heap pages, or 0 if the path is not an index-only scan.
 *
 * For a query that needs no column, the planner considers an index-only scan, and does not
 * check whether the index can return a column.  An index-only scan does not visit heap pages
 * that are all-visible.  This is correct only while vacuum cannot remove a row whose TID was
 * read from the index, and on a standby nothing prevents that.  So the path becomes a plain
 * index scan here, before the planner compares it with other paths.
 *
 * A prohibitive cost would not be a solution.  From PostgreSQL 18 on, the planner prefers
 * any cost to a node that a setting disables.  And one path is for both an index scan and a
 * bitmap scan.  So a count of all rows of a partial index could not read the index at all.
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
 * Remove an order that a scan cannot have.  PostgreSQL then sorts the rows of the path.
 *
 * In order of Jaccard distance, the executor reorders rows.  It must not forget their ctid.
 *
 * PostgreSQL passes any number of distances to an access method with amcanorderbyop.  This one
 * supports one distance.  With a high cost instead, there would be no cheap index scan for the
 * conditions alone, as they share a path with the order.
 */
static void
remove_order(IndexPath *path)
{
	if (list_length(path->indexorderbys) > 1 ||
		(order_is_jaccard(path) &&
		 !reordering_keeps_ctid(pg_strtoint32(GetConfigOption("server_version_num", false, false)))))
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
	bool		unknown;
	ScanEstimate first = {0};
	ScanEstimate all = {0};
	double		ntuples = 0;	/* number of index entries that the scan reads */
	Cost		recheck_cost = 0;	/* of computing a distance of one row */
	Selectivity reordered = 0;	/* fraction of rows fetched before the first is returned */
	double		random_page_cost;
	QualCost	qual_cost;
	ListCell   *lc;

	remove_order(path);

	/*
	 * estimate the query's clauses, which know more than the index conditions made from them,
	 * unless the index returns more rows than match, or another clause is estimated, too
	 */
	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if (clause->lossy || condition_is_beside((Node *) clause->rinfo->clause))
			selectivity_quals = list_concat(selectivity_quals, clause->indexquals);
		else
			selectivity_quals = lappend(selectivity_quals, clause->rinfo);
	}
	selectivity_quals = add_predicate_to_index_quals(info, selectivity_quals);
	*selectivity = clauselist_selectivity(root, selectivity_quals, info->rel->relid,
										  JOIN_INNER, NULL);
	if (opclass && opclass->multi_key)
	{
		unknown = estimate_keys(root, path, opclass, selectivity, &recheck_cost, &reordered,
								&first, &all);
		ntuples = all.entries;
	}
	else
		unknown = estimate_hamming(root, path, *selectivity, &first, &all);
	if (unknown && path->indexorderbys == NIL)
		*selectivity = Max(*selectivity, UNKNOWN_RADIUS_SELECTIVITY);
	ntuples = Max(ntuples, *selectivity * info->tuples);
	*correlation = 0;
	*pages = all.pages;

	/* charge the arguments of the clauses once, because a scan evaluates them once */
	cost_qual_eval(&qual_cost, quals, root);
	*startup_cost = DESCENT_COST + qual_cost.startup + qual_cost.per_tuple;
	*total_cost = *startup_cost + ntuples * cpu_index_tuple_cost +
		*selectivity * info->tuples * recheck_cost +
		cost_of_reading(root, info, &all, loop_count) +
		avoid_index_only_scan(root, path, *selectivity, loop_count);
	get_tablespace_page_costs(info->rel->reltablespace, &random_page_cost, NULL);
	*startup_cost += cost_of_reading(root, info, &first, loop_count) +
		reordered * info->tuples * (random_page_cost + recheck_cost);
	/* for a long passage and a small index, `first` may cost more than `all` */
	*total_cost = Max(*total_cost, *startup_cost);
}
