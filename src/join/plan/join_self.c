/*
 * Self-joins: both sides are the same rows, which are read once
 *
 * A join of two relations, of any type, is a self-join if all of this holds:
 *
 * - Both are the same table, materialized view, partitioned table or CTE, with the same
 *	 conditions.  A table sample, and volatile conditions, may give other rows the second time.
 *	 So may a foreign server.
 * - Both keys are the same expression, and so are both sides of each equality, because a row has
 *	 one key and one hash value.
 * - The query locks or changes no rows.  To check a changed row again, core puts it on one side
 *	 alone (EvalPlanQual).
 * - One path can return the columns that either side needs.
 * - A bit for each row is a small part of the memory, unless it is an inner join.  Two inputs
 *	 would join further left rows later.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

#include "join/plan/join_clause.h"

/*
 * Return true if two range table entries are the same rows of a table or of a CTE.
 */
static bool
are_same_rows(const RangeTblEntry *a, const RangeTblEntry *b)
{
	if (a->rtekind != b->rtekind)
		return false;
	if (a->rtekind == RTE_CTE)
		return strcmp(a->ctename, b->ctename) == 0 && a->ctelevelsup == b->ctelevelsup &&
			!a->self_reference;
	return a->rtekind == RTE_RELATION && a->relid == b->relid && a->inh == b->inh &&
		a->relkind != RELKIND_FOREIGN_TABLE && !a->tablesample && !b->tablesample;
}

/*
 * Return true if all conditions of relation `a` are among those of relation `b`, at the same
 * security level.  Returns false if a condition depends on no column.  Core tests it in a Result
 * node above the scan, which cannot return further columns.
 */
static bool
has_conditions_of(const RelOptInfo *b, const RelOptInfo *a)
{
	ListCell   *lc;
	ListCell   *other;

	foreach(lc, a->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		found = false;

		if (rinfo->pseudoconstant || contain_volatile_functions((Node *) rinfo->clause))
			return false;
		foreach(other, b->baserestrictinfo)
			found |= lfirst_node(RestrictInfo, other)->security_level == rinfo->security_level &&
				is_same_of_both((Node *) rinfo->clause,
								(Node *) lfirst_node(RestrictInfo, other)->clause,
								a->relid, b->relid);
		if (!found)
			return false;
	}
	return true;
}

/*
 * Return true if both sides of each of the equalities are the same expression.
 */
static bool
are_symmetric(List *equalities, int left, int right)
{
	ListCell   *lc;

	foreach(lc, equalities)
	{
		OpExpr	   *op = lfirst_node(OpExpr, lc);

		if (!is_same_of_both(linitial(op->args), lsecond(op->args), left, right))
			return false;
	}
	return true;
}

/*
 * Add the columns that relation `from` outputs to those of relation `to`.  Sets *added if
 * one is missing.  Returns false if the output is not of columns alone.
 */
static bool
add_output(PathTarget *target, const RelOptInfo *to, const RelOptInfo *from, bool *added)
{
	ListCell   *lc;

	foreach(lc, from->reltarget->exprs)
	{
		Node	   *column = copyObject(lfirst(lc));

		if (!IsA(column, Var))
			return false;
		ChangeVarNodes(column, from->relid, to->relid, 0);
		if (list_member(target->exprs, column))
			continue;
		add_column_to_pathtarget(target, (Expr *) column, 0);
		*added = true;
	}
	return true;
}

/*
 * Return a path that has the columns of both relations, as columns of the first one, or NULL if
 * there is none.  Only a scan of the relation itself can return columns that were not asked for.
 */
static Path *
read_all_columns(PlannerInfo *root, RelOptInfo *rel, const RelOptInfo *other, Path *path)
{
	PathTarget *target = copy_pathtarget(rel->reltarget);
	bool		added = false;

	if (!add_output(target, rel, rel, &added) || !add_output(target, rel, other, &added))
		return NULL;
	if (!added)
		return path;
	if (path->pathtype != T_SeqScan && path->pathtype != T_IndexScan &&
		path->pathtype != T_BitmapHeapScan && path->pathtype != T_CteScan)
		return NULL;
	return (Path *) create_projection_path(root, rel, path, set_pathtarget_cost_width(root, target));
}

/*
 * If the two sides of a join are the same rows, return the path to read them, and describe the
 * self-join in clauses->spec.  Otherwise returns NULL.  The paths read the sides.
 */
Path *
join_self_path(PlannerInfo *root, RelOptInfo *left, RelOptInfo *right, Path *left_path,
			   Path *right_path, JoinClauses *clauses)
{
	JoinSpec   *spec = &clauses->spec;
	Path	   *path;
	ListCell   *lc;

	spec->left_relid = spec->right_relid = 0;
	if (root->rowMarks != NIL ||
		(spec->jointype != JOIN_INNER &&
		 right->rows > Min(PG_INT32_MAX, 8.0 * get_hash_memory_limit() / BITMAP_DIVISOR)) ||
		left->reloptkind != RELOPT_BASEREL || right->reloptkind != RELOPT_BASEREL ||
		!are_same_rows(planner_rt_fetch(left->relid, root), planner_rt_fetch(right->relid, root)) ||
		PATH_REQ_OUTER(left_path) || PATH_REQ_OUTER(right_path) ||
		!is_same_of_both((Node *) spec->left_key, (Node *) spec->right_key,
						 left->relid, right->relid) ||
		!are_symmetric(spec->equal, left->relid, right->relid) ||
		!has_conditions_of(right, left) || !has_conditions_of(left, right))
		return NULL;
	path = read_all_columns(root, right, left, right_path);
	if (path == NULL)
		path = read_all_columns(root, left, right, left_path);
	if (path == NULL)
		return NULL;
	spec->left_relid = left->relid;
	spec->right_relid = right->relid;
	foreach(lc, list_concat_copy(spec->cheap_clauses, spec->clauses))
		spec->excludes = Max(spec->excludes,
							 excluded_pairs(lfirst(lc), left->relid, right->relid));
	return path;
}
