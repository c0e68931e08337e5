/*
 * State that outlives a hook's call while core plans a query
 *
 * Up to 18 a PlannerInfo has no field for a module.  Planning may call a function that plans
 * another query.  So the state is found by the PlannerInfo.  It is freed with planner_cxt.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "planner/planner_run.h"

static PlannerRun *runs = NULL; /* the newest first */

/*
 * Remove a PlannerRun from the list.  Called when its planner_cxt is reset.
 */
static void
forget_run(void *argument)
{
	PlannerRun **link = &runs;

	while (*link != argument)
		link = &(*link)->next;
	*link = (*link)->next;
}

/*
 * Return the state of the planner run of a PlannerInfo.  The first call creates it.
 */
PlannerRun *
planner_run_of(PlannerInfo *root)
{
	PlannerRun *run = runs;

	while (run && run->root != root)
		run = run->next;
	if (run)
		return run;
	run = MemoryContextAllocZero(root->planner_cxt, sizeof(PlannerRun));
	run->root = root;
	run->forget.func = forget_run;
	run->forget.arg = run;
	MemoryContextRegisterResetCallback(root->planner_cxt, &run->forget);
	run->next = runs;
	runs = run;
	return run;
}
