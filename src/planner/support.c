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

#include <math.h>

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "planner/objects.h"
#include "planner/rewrite/privileges.h"
#include "planner/selectivity.h"
#include "type/strategy.h"

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
 * Return the index condition `column operator other` of a call with two arguments, one of
 * which is the index column.  Returns NIL if the index cannot serve it.
 */
static List *
operator_condition(SupportRequestIndexCondition *req, Oid operator)
{
	List	   *args = ((FuncExpr *) req->node)->args;
	Node	   *column = list_nth(args, req->indexarg);
	Node	   *other = list_nth(args, 1 - req->indexarg);

	if (!op_in_opfamily(operator, req->opfamily) ||
		!is_pseudo_constant_for_index(req->root, other, req->index))
		return NIL;
	req->lossy = false;
	return list_make1(make_opclause(operator, BOOLOID, false, (Expr *) column,
									(Expr *) other, InvalidOid, req->indexcollation));
}

/*
 * Return the operator on arrays that is equivalent to a function, or InvalidOid.
 */
static Oid
array_operator(Oid function)
{
	SimHashObjects objects;

	if (!objects_find(&distance_containment, &objects))
		return InvalidOid;
	return function == objects.overlaps ? OID_ARRAY_OVERLAP_OP :
		function == objects.contained ? OID_ARRAY_CONTAINED_OP : InvalidOid;
}

/*
 * Return the index condition of sketch_overlaps(a, b), which is a && b, or of
 * sketch_contained(a, b), which is a <@ b.  Indexes of any access method may serve these
 * operators.
 */
static List *
array_condition(SupportRequestIndexCondition *req, Oid operator)
{
	if (!is_funcclause(req->node) || !privileges_suffice(req->root, req->node))
		return NIL;
	return operator_condition(req, req->indexarg == 0 ? operator : get_commutator(operator));
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

/*
 * Elements to assume in an array whose column has no statistics: those of a page of text.
 */
#define DEFAULT_ELEMENTS	50.0

/*
 * Return the average number of elements of a column of arrays, from its width.
 */
static double
average_elements(PlannerInfo *root, Node *node)
{
	Var		   *column = (Var *) node;
	RangeTblEntry *rte;
	int32		width = 0;

	if (root && IsA(column, Var) && column->varlevelsup == 0)
	{
		rte = planner_rt_fetch(column->varno, root);
		if (rte->rtekind == RTE_RELATION)
			width = get_attavgwidth(rte->relid, column->varattno);
	}
	return width > 0 ? (double) width / sizeof(int64) : DEFAULT_ELEMENTS;
}

/*
 * Serve a request for the cost of a call with the arrays a and b.  Its time is that of
 * copying the elements of a, and of searching for each among those of b.  A call of
 * sketch_contained ends at the first element that b lacks.  So half of the searches are
 * assumed.
 */
static Node *
estimate_cost(SupportRequestCost *req)
{
	List	   *args = IsA(req->node, FuncExpr) ? ((FuncExpr *) req->node)->args : NIL;
	double		elements;
	double		searches;

	if (list_length(args) < 2)
		return NULL;
	elements = average_elements(req->root, linitial(args));
	searches = array_operator(req->funcid) == OID_ARRAY_CONTAINED_OP ? elements / 2 : elements;
	req->startup = 0;
	req->per_tuple = cpu_operator_cost *
		(elements + searches * log2(2 + estimate_elements(req->root, lsecond(args))));
	return (Node *) req;
}

/*
 * Serve a request for the selectivity of sketch_overlaps(a, b) or sketch_contained(a, b).
 * Returns the request, with the result.
 *
 * An array that is in b has an element in common with b, unless it is empty.  Core's
 * estimate of a <@ b often exceeds that of a && b.
 */
static Node *
estimate_array_operator(SupportRequestSelectivity *req)
{
	Predicate	predicate = predicate_of_overlap(req->funcid, req->args);

	estimate_predicate(req, &predicate);
	if (!req->is_join && array_operator(req->funcid) == OID_ARRAY_CONTAINED_OP)
		req->selectivity = Min(req->selectivity,
							   restriction_selectivity(req->root, OID_ARRAY_CONTAINED_OP, req->args,
													   req->inputcollid, req->varRelid));
	return (Node *) req;
}

/*
 * Support function of containment_within(), sketch_overlaps() and sketch_contained().  The
 * latter two have no radius.
 */
PG_FUNCTION_INFO_V1(simhash_sketch_support);
Datum
simhash_sketch_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestIndexCondition))
	{
		SupportRequestIndexCondition *req = (SupportRequestIndexCondition *) request;
		Oid			operator = array_operator(req->funcid);

		if (OidIsValid(operator))
			PG_RETURN_POINTER(array_condition(req, operator));
	}
	else if (IsA(request, SupportRequestSelectivity) &&
			 list_length(((SupportRequestSelectivity *) request)->args) == 2)
		PG_RETURN_POINTER(estimate_array_operator((SupportRequestSelectivity *) request));
	else if (IsA(request, SupportRequestCost))
		PG_RETURN_POINTER(estimate_cost((SupportRequestCost *) request));
	PG_RETURN_POINTER(within_support(request, &distance_containment));
}

/*
 * Return the index condition of shares_band(a, b), which is a % b.  Returns NIL if the
 * index cannot serve the call.
 */
static List *
band_condition(SupportRequestIndexCondition *req)
{
	List	   *args = ((FuncExpr *) req->node)->args;
	Oid			type;
	Oid			operator;

	if (!is_funcclause(req->node) || list_length(args) != 2)
		return NIL;
	type = exprType(list_nth(args, req->indexarg));
	operator = get_opfamily_member(req->opfamily, type, type, STRATEGY_SHARES_BAND);
	return get_opcode(operator) == req->funcid ? operator_condition(req, operator) : NIL;
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
