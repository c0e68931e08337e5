/*
 * Rewrite comparisons of distances to calls that the planner understands
 *
 * README.md is what becomes of which comparison, in which order, and what the rewrite may touch.
 * Core has no hook for a query level, so the rewrite runs whenever core builds a relation of it.
 *
 * Why the hook for relations:
 *
 *	- A result type of its own for <~> would need no hook, but drivers do not know it.
 *	  With a domain over integer, ORDER BY loses the index: canonicalize_ec_expression
 *	  wraps the operator in a RelabelType, and match_clause_to_ordering_op wants the bare
 *	  operator.
 *	- A support function of hamming_distance does not see the comparison around its own
 *	  call.
 *	- planner_hook is too early: subqueries are not pulled up, constants are not folded,
 *	  and indexes are not read.  set_rel_pathlist_hook is too late: core has made its
 *	  index paths.  The hook for relations comes in between, and the conditions are still
 *	  in the jointree, each list of them implicitly ANDed.
 *
 * The hook is get_relation_info_hook up to 18 and build_simple_rel_hook from 19 on
 * (compat.h).  It is meant to edit the planner's data about a relation.  A rewrite edits
 * the jointree from there.  README.md is why that is safe.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/guc.h"

#include "compat.h"
#include "planner/planner.h"

static bool enable_rewrite = true;	/* simhash.enable_rewrite */

static table_hook_type previous_hook = NULL;
static set_rel_pathlist_hook_type previous_pathlist_hook = NULL;

/* --- clauses in the jointree --------------------------------------------------- */

/*
 * Rewrite the conditions of WHERE and ON, which are still in the jointree.
 */
static void
rewrite_jointree(Rewrite *rewrite, Node *node)
{
	if (node == NULL || IsA(node, RangeTblRef))
		return;
	if (IsA(node, FromExpr))
	{
		FromExpr   *from = (FromExpr *) node;
		ListCell   *lc;

		foreach(lc, from->fromlist)
			rewrite_jointree(rewrite, lfirst(lc));
		from->quals = (Node *) rewrite_list(rewrite, (List *) from->quals);
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		rewrite_jointree(rewrite, join->larg);
		rewrite_jointree(rewrite, join->rarg);
		join->quals = (Node *) rewrite_list(rewrite, (List *) join->quals);
	}
}

/* --- clauses that core has distributed ------------------------------------------- */

/*
 * Rewrite clauses in place.  Core copies them to children later, and several relations share
 * those of joins.
 *
 * Skips a clause above an outer join that can make the relation's columns NULL: no scan can
 * apply it, and a child's expression cannot replace a column in it.  adjust_appendrel_attrs raises
 * "failed to apply nullingrels to a non-Var" from 16 on.  Skips an OR that core has estimated,
 * since a copy would lose the estimate (orclauses.c), and clauses that only equivalence classes
 * contain.
 */
static void
rewrite_distributed(Rewrite *rewrite, RelOptInfo *parent, List *restrictinfos)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, restrictinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		List	   *rewritten;

		if (is_nulled_below(rinfo, parent) || (rinfo->orclause && rinfo->norm_selec >= 0))
			continue;
		rewritten = rewrite_list(rewrite, list_make1(rinfo->clause));
		foreach(lc2, rewritten)
		{
			Expr	   *clause = lfirst(lc2);
			RestrictInfo *other;

			if (clause == rinfo->clause ||
				list_member(extract_actual_clauses(restrictinfos, false), clause))
				continue;
			other = make_restrictinfo_like(rewrite->root, clause, rinfo);
			if (foreach_current_index(lc2) == 0)
				replace_restrictinfo(rinfo, other);
			else
				distribute_restrictinfo_to_rels(rewrite->root, other);
		}
	}
}

/*
 * Return true if the parent of an AppendRelInfo is a UNION ALL, of which this is the first table.
 */
static bool
is_first_of_union_all(PlannerInfo *root, AppendRelInfo *appinfo)
{
	ListCell   *lc;

	if (planner_rt_fetch(appinfo->parent_relid, root)->rtekind == RTE_RELATION)
		return false;
	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *other = lfirst(lc);

		if (other->parent_relid == appinfo->parent_relid &&
			planner_rt_fetch(other->child_relid, root)->rtekind == RTE_RELATION)
			return other == appinfo;
	}
	return false;
}

/*
 * Rewrite what is left to rewrite when core builds a child of an append relation: operators on
 * arrays that an index of the child serves.  Up to 18, core calls no hook for a UNION ALL
 * itself.  If no table is beside it, its comparisons of distances are left, too, until core
 * builds its first table.
 */
static void
rewrite_for_child(Rewrite *rewrite)
{
	PlannerInfo *root = rewrite->root;
	AppendRelInfo *appinfo = root->append_rel_array[rewrite->rel->relid];
	RelOptInfo *parent;

	for (; appinfo; appinfo = root->append_rel_array[parent->relid])
	{
		parent = root->simple_rel_array[appinfo->parent_relid];
		rewrite->appinfos = lcons(appinfo, rewrite->appinfos);
		rewrite->only_arrays = !is_first_of_union_all(root, appinfo);
		rewrite_distributed(rewrite, parent, list_copy(parent->baserestrictinfo));
		rewrite_distributed(rewrite, parent, list_copy(parent->joininfo));
	}
}

/* --- hooks ----------------------------------------------------------------------- */

/*
 * Prepare a table for planning, or from 19 on any relation.  Core has read the table's indexes.
 * Calls the previous hook first, because that hook may add or remove indexes.
 */
static void
prepare_table(TABLE_HOOK_PARAMETERS)
{
	Rewrite		rewrite = {.root = root, .rel = rel};
	ListCell   *lc;

	if (previous_hook)
		previous_hook(TABLE_HOOK_ARGUMENTS);
	gist_cost_init(rel);

	/* plan_create_index_workers() makes a dummy query without a jointree */
	if (!enable_rewrite || root->parse->jointree == NULL)
		return;
	foreach(lc, planner_rt_fetch(rel->relid, root)->securityQuals)
		lfirst(lc) = rewrite_list(&rewrite, (List *) lfirst(lc));
	if (rel->reloptkind == RELOPT_BASEREL)
		rewrite_jointree(&rewrite, (Node *) root->parse->jointree);
	else
		rewrite_for_child(&rewrite);
}

/*
 * Rewrite the join clauses of a relation.  Core calls this hook for relations of all kinds,
 * before it joins any.  Up to 18, a query level without any table, as of CTEs, has no earlier
 * hook.
 */
static void
prepare_joins(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	Rewrite		rewrite = {.root = root, .rel = rel};

	if (previous_pathlist_hook)
		previous_pathlist_hook(root, rel, rti, rte);
	if (enable_rewrite && rel->reloptkind == RELOPT_BASEREL)
		rewrite_distributed(&rewrite, rel, list_copy(rel->joininfo));
}

/*
 * Define options, and install the hooks.  Called once, when the library is loaded.
 */
void
rewrite_init(void)
{
	DefineCustomBoolVariable("simhash.enable_rewrite",
							 "Enables the use of indexes for comparisons of distances.",
							 "If off, the planner does not rewrite comparisons of distances, nor && and <@ of arrays.",
							 &enable_rewrite, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	previous_hook = table_hook;
	table_hook = prepare_table;
	previous_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = prepare_joins;
}
