/*
 * State that outlives a hook's call while core plans a query
 *
 * Up to 18 a PlannerInfo has no field for a module.  So the state is found by the PlannerInfo,
 * and freed with planner_cxt.  Only that of the newest PlannerInfo is kept, since it is a cache:
 * core seldom returns to an earlier one, as when planning calls a function that plans another
 * query.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "planner/planner_run.h"

static PlannerRun *newest = NULL;

/*
 * Forget a PlannerRun.  Called when its planner_cxt is reset.
 */
static void
forget_run(void *argument)
{
	if (newest == argument)
		newest = NULL;
}

/*
 * Return the state of the planner run of a PlannerInfo.  Creates it, unless it is the newest.
 */
PlannerRun *
planner_run_of(PlannerInfo *root)
{
	PlannerRun *run = newest;

	if (run && run->root == root)
		return run;
	run = MemoryContextAllocZero(root->planner_cxt, sizeof(PlannerRun));
	run->root = root;
	run->forget.func = forget_run;
	run->forget.arg = run;
	MemoryContextRegisterResetCallback(root->planner_cxt, &run->forget);
	newest = run;
	return run;
}
