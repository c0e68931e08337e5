/*
 * Plan node of a similarity join
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_JOIN_NODE_H
#define SIMHASH_JOIN_NODE_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "join/join_sizes.h"
#include "planner/planner.h"

/*
 * Description of the join that a plan node computes.  The node's children are the left
 * plan and the right plan.  Expressions refer to the columns of both, numbered from 1.
 * The columns of the left child come first.  A self-join has one child, whose columns are
 * those of the left and, once more, those of the right side.
 */
typedef struct JoinSpec
{
	JoinType	jointype;		/* JOIN_INNER, JOIN_LEFT, JOIN_SEMI or JOIN_ANTI */
	JoinMethod	method;
	bool		is_swapped;		/* true if the right key is the first argument of the
								 * clause */
	Index		left_relid;		/* range table indexes of the sides of a self-join, for the */
	Index		right_relid;	/* planner; otherwise 0 */
	ExcludedPairs excludes;		/* by the clauses of a self-join */
	Expr	   *left_key;		/* fingerprint, signature or array, computed from columns of
								 * the left child */
	Expr	   *right_key;		/* the same of the right child */
	Expr	   *radius;			/* refers to no column; of type int8, or float8 for arrays;
								 * NULL for % */
	List	   *equal;			/* OpExprs whose arguments are hashed; the left one is computed
								 * from columns of the left child */
	List	   *cheap_clauses;	/* expressions to test before the values of a pair are
								 * compared; NIL if they need no comparison */
	List	   *clauses;		/* other expressions that decide whether a pair matches;
								 * without the distance if it is exact */
	List	   *distance_clauses;	/* the clause of the join's method, as in the query: a bound
								 * of the distance, or % */
} JoinSpec;

/*
 * Return true if the join has one input, which is both the left and the right one.
 */
static inline bool
join_is_self(const JoinSpec *spec)
{
	return spec->left_relid != 0;
}

extern List *join_node_describe(const JoinSpec *spec, List *filter);
extern Plan *join_node_make(PlannerInfo *root, RelOptInfo *joinrel, CustomPath *path,
							List *tlist, List *scan_clauses, List *children);
extern void join_read_spec(const CustomScan *scan, JoinSpec *spec);

#endif							/* SIMHASH_JOIN_NODE_H */
