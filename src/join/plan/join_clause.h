/*
 * Clauses of a similarity join: the distance, equalities and others
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_JOIN_CLAUSE_H
#define SIMHASH_JOIN_CLAUSE_H

#include "join/plan/join_node.h"
#include "planner/planner.h"

/*
 * The clauses of a join of two relations, left and right.
 */
typedef struct JoinClauses
{
	Relids		left_relids;
	Relids		right_relids;
	JoinSpec	spec;			/* what the plan needs of them */
	RestrictInfo *distance;		/* the clause that bounds the distance, or tests for a
								 * shared band */
	Condition	condition;		/* what `distance` implies; `a` is the left key */
	bool		exact;			/* true if `distance` is equivalent to the condition */
	double		radius;			/* in bits, or as a fraction; an assumption if the planner
								 * does not know it */
	double		elements;		/* average number of elements of the arrays, if the method is
								 * JOIN_BY_PREFIX */

	/* Lists of RestrictInfos; the last three in the order of evaluation */
	List	   *equal;			/* equalities that can be hashed */
	List	   *cheap;			/* clauses to test before the values of a pair are compared */
	List	   *match;			/* other clauses that decide which pairs match; includes
								 * `distance` only if it is not exact */
	List	   *filter;			/* clauses to test on the rows of an outer join, as those of
								 * WHERE are */
} JoinClauses;

extern bool join_clause_read(PlannerInfo *root, JoinType jointype, RelOptInfo *joinrel,
							 RelOptInfo *left, RelOptInfo *right, List *restrictlist,
							 JoinClauses *clauses);

/* join_self.c */
extern Path *join_self_path(PlannerInfo *root, RelOptInfo *left, RelOptInfo *right, Path *left_path,
							Path *right_path, JoinClauses *clauses);

/* join_cost.c */
extern void join_cost(PlannerInfo *root, const JoinClauses *clauses, CustomPath *path);

/* join_path.c */
extern void join_path_init(void);

#endif							/* SIMHASH_JOIN_CLAUSE_H */
