/*-------------------------------------------------------------------------
 *
 * support.c
 *		Planner support functions of the distance predicates
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "planner/planner.h"
#include "planner/selectivity.h"

/*
 * Support function of hamming_distance.
 *
 * It has nothing to say.  But planning asks it first, when it simplifies the
 * expressions of a query, and so the library is loaded, and its hook is in
 * place, before the planner looks at the query's tables: in the first query
 * of a session too.
 */
PG_FUNCTION_INFO_V1(simhash_distance_support);
Datum
simhash_distance_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(NULL);
}

/*
 * The index condition of simhash_within(a, b, radius), where one of a and b
 * is the index column: column <@ simhash_ball(other, radius).
 */
static List *
index_condition(SupportRequestIndexCondition *req)
{
	SimHashObjects objects;
	List	   *args;
	Node	   *column;
	Node	   *center;
	Node	   *radius;
	Expr	   *ball;

	if (!is_funcclause(req->node) || req->indexarg > 1 ||
		!objects_find(req->funcid, &objects) || req->funcid != objects.within ||
		!op_in_opfamily(objects.in_ball, req->opfamily) ||
		!objects_searchable(&objects))
		return NIL;

	args = ((FuncExpr *) req->node)->args;
	column = list_nth(args, req->indexarg);
	center = list_nth(args, 1 - req->indexarg);
	radius = lthird(args);
	if (!is_pseudo_constant_for_index(req->root, center, req->index) ||
		!is_pseudo_constant_for_index(req->root, radius, req->index))
		return NIL;

	ball = (Expr *) makeFuncExpr(objects.ball, objects.ball_type,
								 list_make2(center, radius),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	ball = (Expr *) eval_const_expressions(NULL, (Node *) ball);

	req->lossy = false;
	return list_make1(make_opclause(objects.in_ball, BOOLOID, false,
									(Expr *) column, ball,
									InvalidOid, req->indexcollation));
}

/*
 * Support function of simhash_within: how to search an index for it, and
 * how many rows it selects.
 */
PG_FUNCTION_INFO_V1(simhash_within_support);
Datum
simhash_within_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(index_condition((SupportRequestIndexCondition *) request));

	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *req = (SupportRequestSelectivity *) request;
		Predicate	predicate = {
			.function = req->funcid,
			.a = linitial(req->args),
			.b = lsecond(req->args),
			.radius = lthird(req->args)
		};

		if (req->is_join)
			req->selectivity = selectivity_of_join(req->root, &predicate,
												   req->jointype, req->sjinfo);
		else
			req->selectivity = selectivity_of_restriction(req->root, &predicate,
														  req->varRelid);
		PG_RETURN_POINTER(req);
	}

	PG_RETURN_POINTER(NULL);
}
