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
#include "index/strategy.h"
#include "planner/rewrite/objects.h"
#include "planner/rewrite/privileges.h"
#include "planner/selectivity.h"

/*
 * Support function of functions that compute distances, and of the functions of operators
 * on balls.
 *
 * It serves no request.  But the planner calls it when it simplifies the expressions of a
 * query, and that loads this library.  So the library's hooks are installed before the
 * planner reads the query's tables, even for the first query of a session.
 */
PG_FUNCTION_INFO_V1(simhash_distance_support);
Datum
simhash_distance_support(PG_FUNCTION_ARGS)
{
	privileges_matter = true;
	PG_RETURN_POINTER(NULL);
}

/*
 * Return the index condition of within(a, b, radius), where a or b is the index column.
 * The condition is column <@ ball(center, radius), where center is the other argument.
 * Returns NIL if the index cannot serve the call.
 *
 * In the plan, the condition replaces the call.  So this function checks that the user may
 * execute the functions of the call and of the condition.
 */
static List *
within_condition(SupportRequestIndexCondition *req, const Distance *distance)
{
	SimHashObjects objects;
	Oid			operator;
	List	   *args;
	Node	   *column;
	Node	   *center;
	Node	   *radius;
	Expr	   *ball;

	if (!is_funcclause(req->node) || req->indexarg > (distance->symmetric ? 1 : 0) ||
		!objects_find(distance, &objects) || req->funcid != objects.within)
		return NIL;
	operator = objects_search_operator(&objects, req->opfamily);
	if (!OidIsValid(operator) || !privileges_suffice_for_search(req->root, &objects) ||
		!privileges_suffice(req->root, req->node))
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
	return list_make1(make_opclause(operator, BOOLOID, false,
									(Expr *) column, ball,
									InvalidOid, req->indexcollation));
}

/*
 * Serve a request for the selectivity of a predicate.  Returns the request, with the
 * result.
 */
static Node *
estimate_predicate(SupportRequestSelectivity *req, const Predicate *predicate)
{
	if (req->is_join)
		req->selectivity = selectivity_of_join(req->root, predicate,
											   req->jointype, req->sjinfo);
	else
		req->selectivity = selectivity_of_restriction(req->root, predicate,
													  req->varRelid);
	return (Node *) req;
}

/*
 * Serve a request for the index condition or the selectivity of within(a, b, radius).
 * Returns NULL for other requests, or if the call cannot be served.
 */
static Node *
within_support(Node *request, const Distance *distance)
{
	if (IsA(request, SupportRequestIndexCondition))
		return (Node *) within_condition((SupportRequestIndexCondition *) request, distance);

	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *req = (SupportRequestSelectivity *) request;
		Predicate	predicate = {
			.distance = distance,
			.function = req->funcid,
			.a = linitial(req->args),
			.b = lsecond(req->args),
			.radius = lthird(req->args)
		};

		return estimate_predicate(req, &predicate);
	}
	return NULL;
}

PG_FUNCTION_INFO_V1(simhash_within_support);
Datum
simhash_within_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(within_support((Node *) PG_GETARG_POINTER(0), &distance_hamming));
}

PG_FUNCTION_INFO_V1(simhash_containment_within_support);
Datum
simhash_containment_within_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(within_support((Node *) PG_GETARG_POINTER(0), &distance_containment));
}

/*
 * Return the index condition of shares_band(a, b), which is a % b.  Returns NIL if the
 * index cannot serve the call.
 */
static List *
band_condition(SupportRequestIndexCondition *req)
{
	FuncExpr   *call = (FuncExpr *) req->node;
	Node	   *column;
	Node	   *other;
	Oid			type;
	Oid			operator;

	if (!is_funcclause(req->node) || list_length(call->args) != 2)
		return NIL;
	column = list_nth(call->args, req->indexarg);
	other = list_nth(call->args, 1 - req->indexarg);
	type = exprType(column);
	operator = get_opfamily_member(req->opfamily, type, type, STRATEGY_SHARES_BAND);
	if (!OidIsValid(operator) || get_opcode(operator) != req->funcid ||
		!is_pseudo_constant_for_index(req->root, other, req->index))
		return NIL;
	req->lossy = false;
	return list_make1(make_opclause(operator, BOOLOID, false, (Expr *) column,
									(Expr *) other, InvalidOid, req->indexcollation));
}

/*
 * Support function of shares_band(a, b), for its index condition and its selectivity
 */
PG_FUNCTION_INFO_V1(simhash_minhash_band_support);
Datum
simhash_minhash_band_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(band_condition((SupportRequestIndexCondition *) request));
	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *req = (SupportRequestSelectivity *) request;
		Predicate	predicate = predicate_of_band(req->funcid, req->args);

		PG_RETURN_POINTER(estimate_predicate(req, &predicate));
	}
	PG_RETURN_POINTER(NULL);
}
