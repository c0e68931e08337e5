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
#include "index/page.h"
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
		{
			int64		value = DatumGetInt64(((Const *) radius)->constvalue);

			return Max(BALL_EMPTY, Min(SIMHASH_BITS, value));
		}
	}
	return UNKNOWN_RADIUS;
}

/*
 * The radius that bounds a scan: the smallest of its clauses'.  Everything,
 * where there is none.
 */
static int
smallest_radius(IndexPath *path)
{
	int			smallest = SIMHASH_BITS;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, path->indexclauses)
	{
		foreach(lc2, lfirst_node(IndexClause, lc)->indexquals)
		{
			Expr	   *clause = lfirst_node(RestrictInfo, lc2)->clause;
			OpExpr	   *op = (OpExpr *) clause;
			int			radius;

			if (IsA(clause, NullTest))
				return ((NullTest *) clause)->nulltesttype == IS_NULL ?
					BALL_EMPTY : SIMHASH_BITS;
			if (!IsA(clause, OpExpr))
				continue;
			if (get_op_opfamily_strategy(op->opno, path->indexinfo->opfamily[0]) ==
				STRATEGY_WITHIN)
				radius = estimate_radius(lsecond(op->args));
			else
				radius = 0;		/* equality */
			smallest = Min(smallest, radius);
		}
	}
	return smallest;
}

/*
 * What the index is, as far as planning needs it.  A hypothetical one has no
 * pages to read it from.
 */
static void
get_design(IndexOptInfo *info, Design *design)
{
	Relation	index;

	if (info->hypothetical)
	{
		design_init(design, DESIGN_DEFAULT_BLOCKS);
		return;
	}
	index = index_open(info->indexoid, NoLock);
	*design = meta_get(index)->design;
	index_close(index, NoLock);
}

/*
 * What a scan reads: of probes, that prefixes are uniform; what read through
 * is, all of one table (scan.c).
 */
static void
estimate_scan(IndexOptInfo *info, int radius, ScanEstimate *estimate)
{
	Design		design;
	ProbePlan	plan;
	double		table_pages;

	memset(estimate, 0, sizeof(ScanEstimate));
	estimate->descents = 1;
	estimate->pages = 1;
	if (radius < 0)
		return;

	get_design(info, &design);
	table_pages = ceil((double) info->pages / design.ntables);
	if (radius < SIMHASH_BITS)
	{
		design_plan_probes(&design, radius, &plan);
		if (design_probing_pays(&design, &plan, table_pages))
		{
			estimate->descents = design_count_probes(&design, &plan);
			estimate->pages = 0;
			for (int i = 0; i < design.ntables; i++)
			{
				double		patterns = design_count_patterns(design.table[i].nprefix,
															 plan.flips[i]);
				double		share = patterns / pow(2, design.table[i].nprefix);

				estimate->entries += share * info->tuples;
				estimate->pages += patterns + floor(share * table_pages);
			}
			return;
		}
	}
	estimate->pages = table_pages;
	estimate->entries = info->tuples;
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
	ScanEstimate estimate;
	double		random_page_cost;
	double		pages_fetched;
	QualCost	qual_cost;

	estimate_scan(info, smallest_radius(path), &estimate);
	*selectivity = clauselist_selectivity(root, selectivity_quals, info->rel->relid,
										  JOIN_INNER, NULL);
	*correlation = 0;
	*pages = estimate.pages;

	/* Repeated scans find pages in the cache, as for any other index. */
	get_tablespace_page_costs(info->reltablespace, &random_page_cost, NULL);
	pages_fetched = loop_count > 1 ?
		index_pages_fetched(estimate.pages * loop_count, info->pages, info->pages,
							root) / loop_count :
		estimate.pages;

	/* The clauses' arguments are computed once. */
	cost_qual_eval(&qual_cost, quals, root);
	*startup_cost = DESCENT_PAGE_COST + qual_cost.startup + qual_cost.per_tuple;
	*total_cost = *startup_cost + pages_fetched * random_page_cost +
		estimate.descents * DESCENT_PAGE_COST +
		estimate.entries * ENTRY_COST +
		*selectivity * info->tuples * cpu_index_tuple_cost;
}
