/*
 * Check which functions the user may execute
 *
 * The executor checks EXECUTE for the functions in a plan.  An index scan calls other
 * functions than the clause that it serves, so the planner must check both.  Then a query
 * has the same result, or raises the same error, with and without an index.
 *
 * If not everybody may execute one of the functions, the plan is marked (dependsOnRole), and
 * the plan cache plans anew for another role.  The operator <@ of fingerprints and balls has no
 * commutator, by which core would enter its function without a check.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"

#include "compat.h"
#include "planner/planner.h"

/*
 * Return true if the user may not execute a function.  Unless everybody may execute it,
 * marks the plan as dependent on the role.  The context is the PlannerInfo.
 */
static bool
is_forbidden(Oid function, void *context)
{
	PlannerInfo *root = context;

	if (object_aclcheck(ProcedureRelationId, function, ACL_ID_PUBLIC, ACL_EXECUTE) == ACLCHECK_OK)
		return false;
	root->glob->dependsOnRole = true;
	return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) != ACLCHECK_OK;
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
