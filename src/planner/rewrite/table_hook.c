/*
 * The planner's hooks for each relation of a query
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"

#include "compat.h"
#include "planner/gist_cost.h"
#include "planner/rewrite/rewrite.h"
#include "planner/rewrite/table_hook.h"

static table_hook_type previous_hook = NULL;
static set_rel_pathlist_hook_type previous_pathlist_hook = NULL;

/*
 * Prepare a table for planning, or from 19 on any relation.  Calls the previous hook first,
 * because that hook may add or remove indexes.
 */
static void
prepare_table(TABLE_HOOK_PARAMETERS)
{
	if (previous_hook)
		previous_hook(TABLE_HOOK_ARGUMENTS);
	gist_cost_init(rel);
	rewrite_relation(root, rel);
}

/*
 * Rewrite the join clauses of a relation.  Core calls this hook for relations of all kinds,
 * before it joins any.
 */
static void
prepare_joins(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous_pathlist_hook)
		previous_pathlist_hook(root, rel, rti, rte);
	rewrite_joins(root, rel);
}

/*
 * Install the hooks.  Called once, when the library is loaded.
 */
void
table_hook_init(void)
{
	previous_hook = table_hook;
	table_hook = prepare_table;
	previous_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = prepare_joins;
}
