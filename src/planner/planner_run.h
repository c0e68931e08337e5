/*
 * State that outlives a hook's call while core plans a query
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PLANNER_RUN_H
#define SIMHASH_PLANNER_RUN_H

#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

typedef struct PlannerRun
{
	PlannerInfo *root;
	struct ColumnSample *last_sample;	/* of selectivity.c */
	Const	   *last_ball;		/* of support.c; NULL before the first one */
	MemoryContextCallback forget;
} PlannerRun;

extern PlannerRun *planner_run_of(PlannerInfo *root);

#endif							/* SIMHASH_PLANNER_RUN_H */
