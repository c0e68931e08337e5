/*
 * State that outlives a hook's call while core plans a query
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PLANNER_RUN_H
#define SIMHASH_PLANNER_RUN_H

#include "nodes/pathnodes.h"

typedef struct PlannerRun
{
	PlannerInfo *root;
	int			last_or_arm;	/* index of the OR arm in which redundant_clause.c found the
								 * previous call */
	List	   *originals;		/* Originals of rewrite.c */
	struct PlannerRun *next;
	MemoryContextCallback forget;
} PlannerRun;

extern PlannerRun *planner_run_of(PlannerInfo *root);

#endif							/* SIMHASH_PLANNER_RUN_H */
