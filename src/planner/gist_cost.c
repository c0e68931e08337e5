/*
 * Cost of scans of GiST indexes on fingerprints
 *
 * gistcostestimate() assumes that a scan visits only the leaves of the rows that it
 * returns, which is a page or two for any radius.  With this estimate, the planner would
 * prefer GiST to every other plan.
 *
 * This cost adds the leaves that a scan visits in vain, by the binomial sum of
 * gist/pick_split.c.  Conditions on columns before the fingerprint reduce the number of
 * rows in this sum.  An array of balls has a search for each element, within the largest
 * radius if it is known.  For a nearest-neighbor search, it adds to the startup cost the
 * leaves within the expected distance of the first row.
 *
 * The planner's hook for tables sets IndexOptInfo.amcostestimate to this function.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/spccache.h"

#include "bits.h"
#include "planner/planner.h"
#include "type/simhash_type.h"

/*
 * Return the fraction of leaves that a search visits.  leaves is the number of leaves, and
 * the radius is in bits.  Assumes that the entries of a leaf agree on log2(leaves) bits,
 * just enough to distinguish the leaves.  A search skips a leaf if the center differs in
 * more than radius of these bits.
 */
static double
visited_fraction(double leaves, int radius)
{
	int			nbits = log2(Max(1, leaves));

	return bits_count_patterns(nbits, 0, radius, HUGE_VAL) / ldexp(1, nbits);
}

/*
 * Return the cost for one scan of visiting a number of leaves.  It is an average over
 * loop_count scans, which share the cache.
 */
static Cost
cost_of_leaves(PlannerInfo *root, IndexOptInfo *index, double leaves, double loop_count)
{
	double		entries = leaves * index->tuples / Max(1, index->pages);
	double		pages = leaves;
	double		random_page_cost;

	get_tablespace_page_costs(index->reltablespace, &random_page_cost, NULL);
	if (loop_count > 1)
		pages = index_pages_fetched(leaves * loop_count, index->pages, index->pages,
									root) / loop_count;
	return pages * random_page_cost + entries * (cpu_index_tuple_cost + cpu_operator_cost);
}

/*
 * Estimate the cost of an index path.  An amcostestimate function.  Adds the cost of the
 * leaves that gistcostestimate() ignores.
 */
static void
estimate_gist_cost(PlannerInfo *root, IndexPath *path, double loop_count,
				   Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
				   double *correlation, double *pages)
{
	IndexOptInfo *index = path->indexinfo;
	OpExpr	   *order = path->indexorderbys ? linitial(path->indexorderbys) : NULL;
	bool		by_distance = order &&
		objects_distance(get_opcode(order->opno)) == &distance_hamming;
	Searches	search;
	double		leaves;
	double		visited;

	gistcostestimate(root, path, loop_count, startup_cost, total_cost, selectivity,
					 correlation, pages);
	condition_read_searches(root, path, &search);
	if (search.column < 0 && !by_distance)
		return;
	leaves = index->pages * clauselist_selectivity(root, search.others, index->rel->relid,
												   JOIN_INNER, NULL);
	visited = leaves * visited_fraction(leaves, search.radius) * search.count;
	if (visited > *pages)
	{
		*total_cost += cost_of_leaves(root, index, visited, loop_count) -
			cost_of_leaves(root, index, *pages, loop_count);
		*pages = ceil(visited);
	}
	if (by_distance)
	{
		double		rows = leaves * index->tuples / Max(1, index->pages);
		int			nearest = selectivity_nearest_radius(rows);

		*startup_cost += cost_of_leaves(root, index, leaves *
										visited_fraction(leaves, Min(nearest, search.radius)),
										loop_count);
		*total_cost = Max(*total_cost, *startup_cost);
	}
}

/*
 * Set the cost function in the IndexOptInfo of each GiST index of a table on fingerprints
 * or balls.  The planner reads it from there.  Indexes on other types keep
 * gistcostestimate().
 */
void
gist_cost_init(RelOptInfo *rel)
{
	SimHashObjects objects;
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);

		if (index->amcostestimate != gistcostestimate)
			continue;
		for (int i = 0; i < index->nkeycolumns; i++)
			if (index->opcintype[i] >= FirstNormalObjectId &&
				objects_find(&distance_hamming, &objects) &&
				(index->opcintype[i] == objects.type ||
				 index->opcintype[i] == objects.ball_type))
				index->amcostestimate = estimate_gist_cost;
	}
}
