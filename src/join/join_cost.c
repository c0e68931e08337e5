/*-------------------------------------------------------------------------
 *
 * join_cost.c
 *		Cost of a similarity join
 *
 * The join reads each row of both inputs once, and computes its keys.  Then it partitions
 * the fingerprints by blocks of their bits, and compares fingerprints that agree on some
 * blocks (corpus/join_plan.c).  The other clauses are evaluated for each pair within the
 * radius.
 *
 * Costs are in PostgreSQL's units.  The executor evaluates an operator at
 * cpu_operator_cost.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "corpus/join_plan.h"
#include "join/join_cost.h"
#include "join/join_entries.h"
#include "planner/selectivity.h"
#include "type/minhash_type.h"

/*
 * Number of comparisons of two fingerprints that take as long as one operator of the
 * executor.
 */
#define COMPARISONS_PER_OPERATOR	100

/*
 * Bytes in memory or on disk for each row, besides its columns and its entry.
 */
#define ROW_OVERHEAD				24

/* For each row, grouping equal values takes as long as this many operators. */
#define GROUPING_OPERATORS			2

/* Sorting and merging the key of one band takes as long as this many operators. */
#define BAND_OPERATORS				2

/*
 * Return the number of bands of the signatures, if a column's type tells it.  Otherwise
 * returns the default.
 */
static int
number_of_bands(const JoinClauses *clauses)
{
	int32		typmod = exprTypmod((Node *) clauses->left_key);

	if (typmod < 0)
		typmod = exprTypmod((Node *) clauses->right_key);
	return typmod < 0 ? MINHASH_DEFAULT_BANDS : minhash_params_of_typmod(typmod).bands;
}

/*
 * Return the fraction of pairs that share a band.
 */
static Selectivity
fraction_sharing_band(PlannerInfo *root, const JoinClauses *clauses)
{
	Predicate	predicate = predicate_of_band(clauses->function,
											  list_make2(clauses->left_key, clauses->right_key));

	return selectivity_of_join(root, &predicate, JOIN_INNER, NULL);
}

/*
 * Return the fraction of pairs within the radius.  Returns 1 if the extension's objects
 * are missing.
 */
static Selectivity
fraction_in_radius(PlannerInfo *root, const JoinClauses *clauses)
{
	SimHashObjects objects;
	Predicate	predicate = {
		.distance = &distance_hamming,
		.a = (Node *) clauses->left_key,
		.b = (Node *) clauses->right_key,
		.radius = (Node *) clauses->radius
	};

	if (!objects_find(&distance_hamming, &objects))
		return 1;

	/* for simhash_within, the estimate would be divided by that of a companion clause */
	predicate.function = objects.distance_function;
	return selectivity_of_join(root, &predicate, JOIN_INNER, NULL);
}

/*
 * Return the fraction of pairs for which the equalities hold.  The estimate is for an
 * inner join whatever the join type is, because the join finds each pair.
 */
static Selectivity
fraction_equal(PlannerInfo *root, const JoinClauses *clauses, const Path *left,
			   const Path *right)
{
	SpecialJoinInfo sjinfo = {
		.type = T_SpecialJoinInfo,
		.min_lefthand = left->parent->relids,
		.min_righthand = right->parent->relids,
		.syn_lefthand = left->parent->relids,
		.syn_righthand = right->parent->relids,
		.jointype = JOIN_INNER
	};

	return clauselist_selectivity(root, clauses->equal, 0, JOIN_INNER, &sjinfo);
}

/*
 * Return the cost for each row of computing the key and the arguments of the equalities.
 * Adds the costs that occur only once to *startup.
 */
static Cost
key_cost(PlannerInfo *root, Expr *key, List *equal, Cost *startup)
{
	QualCost	cost;
	QualCost	equal_cost;

	cost_qual_eval_node(&cost, (Node *) key, root);
	cost_qual_eval(&equal_cost, equal, root);
	*startup += cost.startup + equal_cost.startup;
	return cost.per_tuple + equal_cost.per_tuple +
		cpu_operator_cost * list_length(equal);
}

/*
 * Return the cost of reading both inputs, computing their keys and grouping equal values.
 */
static Cost
loading_cost(PlannerInfo *root, const JoinClauses *clauses, const Path *left,
			 const Path *right)
{
	Cost		cost = left->total_cost + right->total_cost;
	Cost		of_row = cpu_tuple_cost + GROUPING_OPERATORS * cpu_operator_cost;

	cost += left->rows *
		(of_row + key_cost(root, clauses->left_key, clauses->left_equal, &cost));
	cost += right->rows *
		(of_row + key_cost(root, clauses->right_key, clauses->right_equal, &cost));
	return cost;
}

/*
 * Return the size in bytes of a path's rows in this join.
 */
static double
input_bytes(const Path *path)
{
	return path->rows * (MAXALIGN(path->pathtarget->width) + ROW_OVERHEAD);
}

/*
 * Return the cost of writing rows to temporary files and reading them, if the rows of both
 * inputs exceed the memory.  Returns 0 if they fit.  Entries are written and read once
 * more for each of the blocks or bands that they are partitioned by.
 */
static Cost
spilling_cost(const Path *left, const Path *right, int nblocks, Size entry_size)
{
	double		entries = (left->rows + right->rows) * entry_size;
	double		bytes = input_bytes(left) + input_bytes(right) + entries;

	if (bytes <= get_hash_memory_limit())
		return 0;
	return seq_page_cost * ceil(2 * (bytes + nblocks * entries) / BLCKSZ);
}

/*
 * Set the costs of a path.  path->path.rows must be set.
 */
void
join_cost(PlannerInfo *root, JoinType jointype, const JoinClauses *clauses, CustomPath *path)
{
	const Path *left = linitial(path->custom_paths);
	const Path *right = lsecond(path->custom_paths);
	double		pairs = left->rows * right->rows * fraction_equal(root, clauses, left, right);
	Cost		startup = loading_cost(root, clauses, left, right);
	Cost		run;
	QualCost	cost;

	/*
	 * at first all pairs for which the equalities hold, then those also within the radius,
	 * or that share a band
	 */
	if (clauses->method == JOIN_BY_BANDS)
	{
		int			nbands = number_of_bands(clauses);

		run = spilling_cost(left, right, nbands, sizeof(JoinEntry) + nbands * sizeof(uint32));
		run += cpu_operator_cost * BAND_OPERATORS * nbands * (left->rows + right->rows);
		pairs *= fraction_sharing_band(root, clauses);
	}
	else
	{
		/* there are at most radius + 1 blocks to partition by */
		run = spilling_cost(left, right, Max(clauses->bits, 0) + 1, sizeof(JoinEntry));
		run += cpu_operator_cost / COMPARISONS_PER_OPERATOR *
			join_plan_cost(left->rows + right->rows, clauses->bits, pairs);
		pairs *= fraction_in_radius(root, clauses);
	}

	/* without other clauses, the first pair of a left row decides about it */
	if ((jointype == JOIN_SEMI || jointype == JOIN_ANTI) && clauses->match == NIL)
		pairs = Min(pairs, left->rows);
	cost_qual_eval(&cost, clauses->match, root);
	startup += cost.startup;
	run += pairs * (cpu_operator_cost + cost.per_tuple);

	cost_qual_eval(&cost, clauses->filter, root);
	startup += cost.startup + path->path.pathtarget->cost.startup;
	run += path->path.rows *
		(cpu_tuple_cost + cost.per_tuple + path->path.pathtarget->cost.per_tuple);
	path->path.startup_cost = startup;
	path->path.total_cost = startup + run;
}
