/*
 * The planner's hook for joins, and the path of a similarity join
 *
 * The clauses are read once.  A path keeps what the plan needs of them as lists of
 * expressions, which core can translate for a partition.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "nodes/extensible.h"
#include "optimizer/appendinfo.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/guc.h"

#include "compat.h"
#include "join/plan/join_clause.h"

static set_join_pathlist_hook_type previous_hook = NULL;
static bool enable_join = true;

/*
 * Translate the private data of a path whose parameters are changed from those of a
 * partitioned table to those of a partition.  A CustomPath callback.
 */
static List *
reparameterize_join(PlannerInfo *root, List *custom_private, RelOptInfo *child)
{
	return list_make2(translate_for_child(root, linitial(custom_private), child),
					  lsecond(custom_private));
}

static const CustomPathMethods join_path_methods = {
	.CustomName = JOIN_NODE_NAME,
	.PlanCustomPath = join_node_make,
	.ReparameterizeCustomPathByChild = reparameterize_join
};

/*
 * Return true if the output of a relation identifies rows of an inherited table to
 * update.  setrefs.c does not expect such columns in custom_scan_tlist.
 */
static bool
has_row_identity(RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->reltarget->exprs)
		if (IsA(lfirst(lc), Var) && ((Var *) lfirst(lc))->varno == ROWID_VAR)
			return true;
	return false;
}

/*
 * Return true if a clause depends on no column and core would not evaluate it above a custom path.
 */
static bool
has_ungated_clause(List *restrictlist)
{
	ListCell   *lc;

	if (CUSTOM_JOIN_IS_GATED)
		return false;
	foreach(lc, restrictlist)
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return true;
	return false;
}

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
 * Make a path for a join of two paths.  Both sides of a self-join are one input.
 */
static CustomPath *
make_path(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *left, RelOptInfo *right,
		  Path *left_path, Path *right_path, JoinClauses *clauses, List *restrictlist,
		  JoinPathExtraData *extra)
{
	CustomPath *path = makeNode(CustomPath);
	Path	   *self_path = join_self_path(root, left, right, left_path, right_path, clauses);

	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = joinrel->reltarget;
	path->path.parallel_safe = joinrel->consider_parallel &&
		left_path->parallel_safe && right_path->parallel_safe;
	set_disabled_nodes(&path->path, left_path, right_path, extra);
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = self_path ? list_make1(self_path) : list_make2(left_path, right_path);
	path->custom_private = join_node_describe(&clauses->spec,
											  extract_actual_clauses(clauses->filter, false));
	set_gating_clauses(path, restrictlist);
	path->methods = &join_path_methods;
	return path;
}

/*
 * Add a path by which several processes join, if both inputs can be read by several.  They number
 * the rows of an input by 32 bits.
 */
static void
add_partial_join_path(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *left,
					  RelOptInfo *right, JoinClauses *clauses, JoinPathExtraData *extra)
{
	Path	   *left_path;
	Path	   *right_path;
	CustomPath *path;

	if (!joinrel->consider_parallel || joinrel->lateral_relids ||
		left->partial_pathlist == NIL || right->partial_pathlist == NIL ||
		left->rows > PG_INT32_MAX || right->rows > PG_INT32_MAX)
		return;
	left_path = linitial(left->partial_pathlist);
	right_path = linitial(right->partial_pathlist);
	path = make_path(root, joinrel, left, right, left_path, right_path, clauses,
					 extra->restrictlist, extra);
	if (!path->path.parallel_safe)
		return;
	path->path.parallel_aware = true;
	path->path.parallel_workers = Max(left_path->parallel_workers, right_path->parallel_workers);
	path->path.rows = joinrel->rows;
	join_cost(root, clauses, path);
	add_partial_path(joinrel, &path->path);
}

/*
 * Add paths to a join relation, if a clause of the join bounds the distance of fingerprints or of
 * arrays, or tests whether signatures share a band.  A path reads each input once, so neither
 * input may depend on rows of the other one.  An input may depend on other relations only if
 * LATERAL forces it to.  The parameterization of the path is that of the two inputs together.
 */
static void
add_join_path(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *left, RelOptInfo *right,
			  JoinType jointype, JoinPathExtraData *extra)
{
	Path	   *left_path = left->cheapest_total_path;
	Path	   *right_path = right->cheapest_total_path;
	Relids		required_outer = bms_union(PATH_REQ_OUTER(left_path), PATH_REQ_OUTER(right_path));
	List	   *restrictlist = extra->restrictlist;
	ParamPathInfo *param_info;
	JoinClauses clauses;
	CustomPath *path;

	if (!bms_is_subset(required_outer, joinrel->lateral_relids) ||
		has_ungated_clause(restrictlist) || has_row_identity(left) || has_row_identity(right))
		return;

	/* a parameterized path may have more clauses than extra->restrictlist */
	param_info = get_joinrel_parampathinfo(root, joinrel, left_path, right_path, extra->sjinfo,
										   required_outer, &restrictlist);
	if (!join_clause_read(root, jointype, joinrel, left, right, restrictlist, &clauses))
		return;
	path = make_path(root, joinrel, left, right, left_path, right_path, &clauses, restrictlist,
					 extra);
	path->path.param_info = param_info;
	path->path.rows = param_info ? param_info->ppi_rows : joinrel->rows;
	join_cost(root, &clauses, path);
	add_path(joinrel, &path->path);
	if (param_info == NULL)
		add_partial_join_path(root, joinrel, left, right, &clauses, extra);
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
		add_join_path(root, joinrel, outerrel, innerrel, jointype, extra);
}

/*
 * Define the option and install the hook.  Called once, when the library is loaded.
 */
void
join_path_init(void)
{
	DefineCustomBoolVariable("simhash.enable_join",
							 "Enables the planner's use of similarity join plans.",
							 NULL,
							 &enable_join, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	previous_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = add_join_paths;
}
