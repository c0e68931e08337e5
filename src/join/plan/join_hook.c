/*-------------------------------------------------------------------------
 *
 * join_hook.c
 *		The planner's hook for joins
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/paths.h"
#include "utils/guc.h"

#include "join/plan/join_path.h"

static set_join_pathlist_hook_type previous_hook = NULL;
static bool enable_join = true;

/*
 * Return true if the join should be done with outerrel as the left side.  For an inner
 * join, core offers both orders, and the side with more rows should be the left one.
 */
static bool
is_suitable_order(JoinType jointype, const RelOptInfo *outerrel, const RelOptInfo *innerrel)
{
	switch (jointype)
	{
		case JOIN_LEFT:
		case JOIN_SEMI:
		case JOIN_ANTI:
			return true;
		case JOIN_INNER:
			if (outerrel->rows != innerrel->rows)
				return outerrel->rows > innerrel->rows;
			return bms_compare(outerrel->relids, innerrel->relids) < 0;
		default:
			return false;
	}
}

/*
 * Add a similarity join to the paths of a join relation.  Calls the previous hook first.
 */
static void
add_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
			   RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	if (previous_hook)
		previous_hook(root, joinrel, outerrel, innerrel, jointype, extra);
	if (enable_join && is_suitable_order(jointype, outerrel, innerrel))
		join_path_add(root, joinrel, outerrel, innerrel, jointype, extra);
}

/*
 * Define the option and install the hook.  Called once, when the
 * library is loaded.
 */
void
join_hook_init(void)
{
	DefineCustomBoolVariable("simhash.enable_join",
							 "Enables the planner's use of similarity join plans.",
							 NULL,
							 &enable_join, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	previous_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = add_join_paths;
}
