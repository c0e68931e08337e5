/*-------------------------------------------------------------------------
 *
 * privileges.c
 *		Check which functions the user may execute
 *
 * The executor checks EXECUTE for the functions in a plan.  An index scan calls other
 * functions than the clause that it serves, so the planner must check both.  Then a query
 * has the same result, or raises the same error, with and without an index.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/syscache.h"

#include "compat.h"
#include "planner/rewrite/indexable.h"
#include "planner/rewrite/privileges.h"

/* --- of a clause ---------------------------------------------------------------- */

/*
 * Return true if everybody may execute a function, because it has no access list.
 */
static bool
is_public(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = heap_attisnull(tuple, Anum_pg_proc_proacl, NULL);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Return true if the user may not execute a function.  Unless everybody may execute it,
 * marks the plan as dependent on the role.  The context is the PlannerInfo.
 */
static bool
is_forbidden(Oid function, void *context)
{
	PlannerInfo *root = context;

	if (is_public(function))
		return false;
	root->glob->dependsOnRole = true;
	return !user_may_execute(function, GetUserId());
}

/*
 * Return true if an expression calls a function that the user may not execute.  The
 * context is the PlannerInfo.
 */
static bool
contains_forbidden(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (check_functions_in_node(node, is_forbidden, context))
		return true;
	return expression_tree_walker(node, contains_forbidden, context);
}

/*
 * Return true if the user may execute all functions that an expression calls.
 */
bool
privileges_suffice(PlannerInfo *root, Node *expression)
{
	return !contains_forbidden(expression, root);
}

/*
 * Return true if the user may execute the functions of the index condition of a distance.
 */
bool
privileges_suffice_for_search(PlannerInfo *root, const SimHashObjects *objects)
{
	return !is_forbidden(objects->ball, root) && !is_forbidden(objects->in_ball, root);
}

/* --- of a commutator ------------------------------------------------------------ */

/*
 * True if a query of this session has called a distance, or the function of an operator on
 * balls.  Until then, no index needs to be hidden, and the members of the extension need
 * not be read.
 */
bool		privileges_matter = false;

static bool
is_same_function(Oid function, void *context)
{
	return function == *(Oid *) context;
}

/*
 * Return true if a query or an expression calls a function.  The context points to the
 * function's OID.
 */
static bool
calls_function(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, calls_function, context, 0);
	if (check_functions_in_node(node, is_same_function, context))
		return true;
	return expression_tree_walker(node, calls_function, context);
}

/*
 * Return true if the query calls the function `other`, and the user may execute only one
 * of the two functions.  In an index scan, core calls `of_index` in place of `other`.
 */
static bool
is_replaced(PlannerInfo *root, Oid of_index, Oid other)
{
	return OidIsValid(other) &&
		is_forbidden(of_index, root) != is_forbidden(other, root) &&
		calls_function((Node *) root->parse, &other);
}

/*
 * Return true if an index can search within a ball for a distance.
 */
static bool
is_index_of(const IndexOptInfo *index, const SimHashObjects *objects)
{
	for (int i = 0; i < index->nkeycolumns; i++)
		if (OidIsValid(objects_search_operator(objects, index->opfamily[i])))
			return true;
	return false;
}

/*
 * Remove indexes from a table's list if an index scan would need other privileges than a
 * sequential scan.  Conditions of the form ball @> column can cause this.  For an index, core
 * replaces the operator by its commutator, without a check whether the user may execute the
 * commutator's function.
 */
void
privileges_hide_indexes(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *lc;

	if (!privileges_matter || !indexable_has_custom_opclass(rel))
		return;
	for (int i = 0; all_distances[i] && rel->indexlist != NIL; i++)
	{
		SimHashObjects objects;

		if (!objects_find(all_distances[i], &objects) || !objects.restricted ||
			!is_replaced(root, objects.in_ball, objects.ball_contains))
			continue;
		foreach(lc, rel->indexlist)
			if (is_index_of(lfirst(lc), &objects))
				rel->indexlist = foreach_delete_current(rel->indexlist, lc);
	}
}
