/*
 * Functions of this folder
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PLANNER_H
#define SIMHASH_PLANNER_H

#include "planner/condition.h"

/* array_estimate.c */
extern Selectivity array_estimate(PlannerInfo *root, const Condition *condition, bool of_join,
								  JoinType jointype, SpecialJoinInfo *sjinfo);
extern double array_count_elements(PlannerInfo *root, Node *node);
extern double array_comparison_cost(double a, double b);

/* gist_cost.c */
extern void gist_cost_init(RelOptInfo *rel);

/* privileges.c */
extern bool privileges_suffice(PlannerInfo *root, Node *expression);
extern bool privileges_suffice_for_search(PlannerInfo *root, const SimHashObjects *objects);

/* selectivity.c */

/* State that outlives a hook's call while core plans a query. */
typedef struct PlannerRun
{
	PlannerInfo *root;
	struct ColumnSample *last_sample;	/* of selectivity.c */
	Const	   *last_ball;		/* of support.c; NULL before the first one */
	MemoryContextCallback forget;
} PlannerRun;

extern PlannerRun *planner_run_of(PlannerInfo *root);
extern int	selectivity_nearest_radius(double nrows);
extern Selectivity selectivity_of_restriction(PlannerInfo *root, const Condition *condition,
											  int varRelid);
extern Selectivity selectivity_of_join(PlannerInfo *root, const Condition *condition,
									   JoinType jointype, SpecialJoinInfo *sjinfo);

/* self_join.c */

/* Pairs of rows of one table that a clause excludes. */
typedef enum ExcludedPairs
{
	EXCLUDES_NONE,
	EXCLUDES_ITSELF,			/* a row and itself */
	EXCLUDES_OTHER_ORDER		/* that, and each other pair in one of its two orders */
} ExcludedPairs;

/* How the two sides of a join are related. */
typedef struct SelfJoin
{
	bool		same_values;	/* true if both sides are the same column of one table */
	double		excluded;		/* fraction of pairs that are a row and itself, if another
								 * clause excludes them; otherwise 0 */
} SelfJoin;

extern bool is_same_of_both(Node *of_a, Node *of_b, int a, int b);
extern ExcludedPairs excluded_pairs(Expr *clause, int a, int b);
extern SelfJoin self_join_read(PlannerInfo *root, const Condition *condition);

/*
 * Return the greatest probability to assume that a row has an equal one on the other side.
 * Each row of a table has one in that table.  Of two tables the samples do not tell, so assume
 * a half, as eqjoinsel_semi() does if it has no statistics.  Then neither the rows with a match
 * nor those without one are estimated as none.
 */
static inline double
self_join_max_equal(const SelfJoin *self)
{
	return self->same_values && self->excluded == 0 ? 1 : 0.5;
}

/* rewrite/other_uses.c */
extern bool compared_elsewhere(PlannerInfo *root, RelOptInfo *rel, Index relid,
							   const Condition *condition);
extern bool is_foreign(PlannerInfo *root, Index relid);

/* rewrite/rewrite.c */
extern void rewrite_init(void);

/* rewrite/rewrite_clause.c */

/* A rewrite of the clauses of a query level, while the planner builds a relation. */
typedef struct Rewrite
{
	PlannerInfo *root;
	RelOptInfo *rel;			/* the relation */
	List	   *appinfos;		/* if it is a child: AppendRelInfos from the parent that the
								 * clauses reference down to it */
	bool		only_arrays;	/* true if comparisons of distances are rewritten elsewhere */

	/* Arguments and result of the last call of compared_elsewhere(), a cache */
	Oid			callee_class;
	Oid			callee;
	Index		relid;
	bool		compared;

	/* Relations that were tested, and those that are foreign, a cache */
	Relids		tested;
	Relids		foreign;
} Rewrite;

extern List *rewrite_list(Rewrite *rewrite, List *clauses);

#endif							/* SIMHASH_PLANNER_H */
