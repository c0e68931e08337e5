/*-------------------------------------------------------------------------
 *
 * privileges.c
 *		What the user may execute
 *
 * The executor checks EXECUTE on the functions that stand in a plan.  A search by an
 * index calls other functions than the clause that it serves, so the planner has to
 * check both: a query has the same answer, or the same error, with an index and
 * without.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"

#include "compat.h"
#include "planner/planner.h"

static bool
is_forbidden(Oid function, void *context)
{
	return !user_may_execute(function, GetUserId());
}

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
 * Return whether the user may execute all functions of an expression.
 */
bool
privileges_suffice(PlannerInfo *root, Node *expression)
{
	return !contains_forbidden(expression, root);
}

/*
 * Return whether the user may execute the functions of an index condition.
 */
bool
privileges_suffice_for_search(PlannerInfo *root, const SimHashObjects *objects)
{
	return !is_forbidden(objects->ball, root) && !is_forbidden(objects->in_ball, root);
}
