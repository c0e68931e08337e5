/*
 * State that outlives a hook's call while core plans a query
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PLANNER_RUN_H
#define SIMHASH_PLANNER_RUN_H

#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

/*
 * Where redundant_clause.c has found clauses last, as indexes into lists.  The planner
 * estimates one clause after the other, so the next call is at the same place or just after
 * it, and so is its comparison.  Each search begins there.  Otherwise estimates of many
 * clauses would take quadratic time.
 */
typedef struct LastFound
{
	int			clause;			/* the call, or the OR that contains it */
	int			or_arm;			/* the arm of that OR */
	int			comparison;		/* the redundant clause */
	List	   *plain;			/* the last list that has no comparison, and its length */
	int			plain_length;
} LastFound;

typedef struct PlannerRun
{
	PlannerInfo *root;
	LastFound	last_found;
	struct ColumnSample *last_sample;	/* of selectivity.c */
	List	   *originals;		/* Originals of rewrite.c */
	Const	   *last_ball;		/* of support.c; NULL before the first one */
	struct PlannerRun *next;
	MemoryContextCallback forget;
} PlannerRun;

extern PlannerRun *planner_run_of(PlannerInfo *root);

#endif							/* SIMHASH_PLANNER_RUN_H */
