/*-------------------------------------------------------------------------
 *
 * join_cost.c
 *		Cost of a similarity join
 *
 * The join reads both inputs and computes their keys, once a row.  Then it partitions
 * the fingerprints by blocks of their bits, and compares those that agree on some blocks
 * (corpus/join_plan.c).  The other clauses are evaluated for each pair within the radius.
 *
 * The costs are in PostgreSQL's units, in which cpu_operator_cost is an operator of the
 * executor.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "corpus/join_plan.h"
#include "join/join_cost.h"
#include "join/join_entries.h"
#include "planner/selectivity.h"

/* Comparisons of two fingerprints that take as long as an operator of the executor. */
#define COMPARISONS_PER_OPERATOR	100

/* Memory and disk space of a row, besides its columns: its key, hash and place. */
#define ROW_OVERHEAD				48

/* Operators that take as long as grouping the equal values of the rows, for each row. */
#define GROUPING_OPERATORS			2

/*
 * Return the fraction of pairs within the radius.
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

	/* of simhash_within it would be the fraction to multiply with a companion clause's */
	predicate.function = objects.distance_function;
	return selectivity_of_join(root, &predicate, JOIN_INNER, NULL);
}

/*
 * Return the fraction of pairs that the equalities leave.  The estimate is for an inner
 * join, whatever the type of the join is: each pair is found.
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
 * Return the cost of a row's key and of its equalities' expressions.  Adds what they cost
 * once to *startup.
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
 * Return the size of a path's rows in bytes.
 */
static double
input_bytes(const Path *path)
{
	return path->rows * (MAXALIGN(path->pathtarget->width) + ROW_OVERHEAD);
}

/*
 * Return the cost of writing rows that exceed the memory to temporary files, and of
 * reading them.  Entries are written and read once more for each block that partitions are
 * made by, of which there are at most radius + 1.
 */
static Cost
spilling_cost(const Path *left, const Path *right, int radius)
{
	double		bytes = input_bytes(left) + input_bytes(right);
	double		entries = (left->rows + right->rows) * sizeof(JoinEntry);

	if (bytes <= get_hash_memory_limit())
		return 0;
	return seq_page_cost * ceil(2 * (bytes + (radius + 1) * entries) / BLCKSZ);
}

/*
 * Set the costs of a path.  Its rows must be set.
 */
void
join_cost(PlannerInfo *root, JoinType jointype, const JoinClauses *clauses, CustomPath *path)
{
	const Path *left = linitial(path->custom_paths);
	const Path *right = lsecond(path->custom_paths);
	double		pairs = left->rows * right->rows * fraction_equal(root, clauses, left, right);
	Cost		startup = loading_cost(root, clauses, left, right);
	Cost		run = spilling_cost(left, right, Max(clauses->bits, 0));
	QualCost	cost;

	/* all pairs, and then those within the radius */
	run += cpu_operator_cost / COMPARISONS_PER_OPERATOR *
		join_plan_cost(left->rows + right->rows, clauses->bits, pairs);
	pairs *= fraction_in_radius(root, clauses);

	/* without other clauses, one pair tells all of a left row */
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
