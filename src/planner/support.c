/*
 * Planner support function: index conditions, selectivities and costs of calls
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "planner/planner.h"
#include "type/strategy.h"

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

/* --- index conditions ------------------------------------------------------------ */

/*
 * Return the index condition `column operator argument`.  Returns NIL if the index cannot
 * serve it.  The caller checks the privileges on the operator's function.
 */
static List *
operator_condition(SupportRequestIndexCondition *req, Oid operator, Node *argument)
{
	Node	   *column = list_nth(((FuncExpr *) req->node)->args, req->indexarg);

	if (!op_in_opfamily(operator, req->opfamily) ||
		!is_pseudo_constant_for_index(req->root, argument, req->index))
		return NIL;
	req->lossy = false;
	return list_make1(make_opclause(operator, BOOLOID, false, (Expr *) column,
									(Expr *) argument, InvalidOid, req->indexcollation));
}

/*
 * Return true if a ball is that of a center and a radius.  Compares their values.
 */
static bool
is_ball_of_values(const SimHashObjects *objects, const Const *ball, const Const *center,
				  const Const *radius)
{
	Datum		ball_center;
	Datum		ball_radius;

	return ball->consttype == objects->ball_type &&
		distance_open_ball(objects->distance, ball->constvalue, &ball_center, &ball_radius) &&
		datumIsEqual(ball_radius, radius->constvalue, radius->constbyval, radius->constlen) &&
		datumIsEqual(ball_center, center->constvalue, center->constbyval, center->constlen);
}

/*
 * Return the ball of a center and a radius, as a constant if both are constants.  Then it calls its
 * function, which takes a fraction of the time of eval_const_expressions().  An array may be large,
 * and all partitions search for the same one, so their balls have the same value in memory.
 */
static Node *
index_ball(PlannerInfo *root, const SimHashObjects *objects, Node *center, Node *radius)
{
	const Const *c = (const Const *) center;
	const Const *r = (const Const *) radius;
	PlannerRun *run;
	MemoryContext old_context;
	Node	   *ball;

	if (!IsA(c, Const) || c->constisnull || !IsA(r, Const) || r->constisnull)
		return eval_const_expressions(NULL, (Node *)
									  makeFuncExpr(objects->ball, objects->ball_type,
												   list_make2(center, radius), InvalidOid, InvalidOid,
												   COERCE_EXPLICIT_CALL));
	run = root && !c->constbyval ? planner_run_of(root) : NULL;
	if (run && run->last_ball && is_ball_of_values(objects, run->last_ball, c, r))
		return make_constant(objects->ball_type, run->last_ball->constvalue);
	old_context = MemoryContextSwitchTo(run ? root->planner_cxt : CurrentMemoryContext);
	ball = make_constant(objects->ball_type,
						 OidFunctionCall2(objects->ball, c->constvalue, r->constvalue));
	MemoryContextSwitchTo(old_context);
	if (run)
		run->last_ball = (Const *) ball;
	return ball;
}

/*
 * Return the index condition of a condition on a distance, where a or b is the index column.
 * It is column <@ ball(center, radius), where center is the other argument.  Returns NIL if the
 * index cannot serve the condition, if all distances are within the radius, or if the user may
 * not execute the functions.
 */
static List *
ball_condition(SupportRequestIndexCondition *req, const Condition *condition)
{
	const Distance *distance = condition->distance;
	SimHashObjects objects;
	Oid			operator;
	List	   *result;

	if (req->indexarg > (distance->symmetric ? 1 : 0) || !condition_is_bounded(condition) ||
		!objects_find(distance, &objects) || !privileges_suffice(req->root, condition->radius) ||
		!privileges_suffice_for_search(req->root, &objects))
		return NIL;
	operator = objects_search_operator(&objects, req->opfamily);
	if (!OidIsValid(operator))
		return NIL;
	result = operator_condition(req, operator,
								index_ball(req->root, &objects,
										   list_nth(((FuncExpr *) req->node)->args,
													1 - req->indexarg), condition->radius));
	req->lossy = condition->above != NULL;
	return result;
}

/*
 * Return the index condition of a call with two arguments: shares_band(a, b) is a % b,
 * sketch_overlaps(a, b) is a && b, sketch_contained(a, b) is a <@ b.  Indexes of any access
 * method may serve the latter two.  Returns NIL if the index cannot serve the call, or if
 * the user may not execute the operator's function.
 */
static List *
two_argument_condition(SupportRequestIndexCondition *req)
{
	List	   *args = ((FuncExpr *) req->node)->args;
	Oid			type = exprType(list_nth(args, req->indexarg));
	Oid			operator = array_operator(req->funcid);
	List	   *condition;

	if (req->funcid == objects_of_signatures()->within)
		operator = get_opfamily_member(req->opfamily, type, type, STRATEGY_SHARES_BAND);
	else if (req->indexarg == 1)
		operator = get_commutator(operator);
	condition = operator_condition(req, operator, list_nth(args, 1 - req->indexarg));
	return privileges_suffice(req->root, (Node *) condition) ? condition : NIL;
}

/*
 * Return the index condition of a call, or NIL if the index cannot serve the call.
 *
 * In the plan, the condition replaces the call.  So the user must have EXECUTE on the
 * functions of both.
 */
static List *
index_condition(SupportRequestIndexCondition *req)
{
	List	   *args;
	Condition	condition;

	if (!is_funcclause(req->node) || !privileges_suffice(req->root, req->node))
		return NIL;
	args = ((FuncExpr *) req->node)->args;
	if (list_length(args) == 2)
		return two_argument_condition(req);
	return condition_read_call(req->funcid, args, &condition) ?
		ball_condition(req, &condition) : NIL;
}

/* --- selectivities ----------------------------------------------------------------- */

/*
 * Return true if the planner has statistics of the distance that a clause compares.  ANALYZE
 * collects them if the distance is an expression of an index or of extended statistics.
 */
static bool
has_statistics(PlannerInfo *root, OpExpr *clause, int varRelid)
{
	bool		result = false;
	ListCell   *lc;

	foreach(lc, clause->args)
	{
		VariableStatData data;

		if (IsA(lfirst(lc), Var))	/* the bound */
			continue;
		examine_variable(root, lfirst(lc), varRelid, &data);
		result |= HeapTupleIsValid(data.statsTuple) &&
			statistic_proc_security_check(&data, get_opcode(clause->opno));
		ReleaseVariableStats(data);
	}
	return result;
}

/*
 * Return the selectivity of simhash_beside(a, b, clause).  Core multiplies it by its estimate
 * of the comparison beside it, which yields `selectivity`, that of the condition.  It is 1 if
 * core's estimate is the better one, as of an equality with an unknown number, and beside an OR,
 * which implies the clause.
 */
static Selectivity
selectivity_beside(SupportRequestSelectivity *req, const Condition *condition,
				   Selectivity selectivity)
{
	Node	   *clause = lthird(req->args);
	Selectivity of_clause;

	if (!IsA(clause, OpExpr) || has_statistics(req->root, (OpExpr *) clause, req->varRelid) ||
		(condition_is_equality(condition) && !IsA(condition->radius, Const)))
		return 1;
	of_clause = clause_selectivity(req->root, clause, req->varRelid,
								   req->is_join ? req->jointype : JOIN_INNER, req->sjinfo);
	return selectivity < of_clause ? selectivity / of_clause : 1;
}

/*
 * Return true if a restricted expression returns one of several values, of which some may be
 * constants.  No statistics tell how often.
 */
static bool
is_restricted_choice(SupportRequestSelectivity *req, Node *node)
{
	return !req->is_join && (IsA(node, CoalesceExpr) || IsA(node, CaseExpr)) &&
		(req->varRelid == 0 || bms_is_member(req->varRelid, pull_varnos(req->root, node)));
}

/*
 * Set the selectivity of a call.  Returns false if the call is not a condition.
 *
 * Core's estimate of a <@ b often exceeds that of a && b, although an array that is in b has
 * an element in common with b, unless it is empty.
 */
static bool
estimate_selectivity(SupportRequestSelectivity *req)
{
	bool		is_beside = req->funcid == objects_beside();
	Condition	condition;

	if (!condition_read_call(req->funcid, req->args, &condition))
	{
		req->selectivity = 1;
		return is_beside;
	}
	if (is_restricted_choice(req, condition.a) || is_restricted_choice(req, condition.b))
		req->selectivity = condition_is_equality(&condition) ? DEFAULT_RANGE_INEQ_SEL :
			DEFAULT_INEQ_SEL;
	else if (req->is_join)
		req->selectivity = selectivity_of_join(req->root, &condition, req->jointype, req->sjinfo);
	else
		req->selectivity = selectivity_of_restriction(req->root, &condition, req->varRelid);
	if (is_beside)
		req->selectivity = selectivity_beside(req, &condition, req->selectivity);
	else if (!req->is_join && array_operator(req->funcid) == OID_ARRAY_CONTAINED_OP)
		req->selectivity = Min(req->selectivity,
							   restriction_selectivity(req->root, OID_ARRAY_CONTAINED_OP, req->args,
													   req->inputcollid, req->varRelid));
	return true;
}

/* --- costs -------------------------------------------------------------------------- */

/*
 * Set the cost of a call with the arrays a and b.  A call of sketch_contained ends at the
 * first element that b lacks.  So half of the comparison is assumed.  Returns false if the
 * function takes no arrays, or if core does not pass the call, as for operator ANY (array).
 * Serves distances, too, so that a comparison costs the same with an index and without.
 */
static bool
estimate_cost(SupportRequestCost *req)
{
	List	   *args = NIL;

	if (req->node && IsA(req->node, FuncExpr))
		args = ((FuncExpr *) req->node)->args;
	else if (req->node && IsA(req->node, OpExpr))
		args = ((OpExpr *) req->node)->args;
	if (list_length(args) < 2 || exprType(linitial(args)) != INT8ARRAYOID ||
		req->funcid == objects_beside())
		return false;
	req->startup = 0;
	req->per_tuple = array_comparison_cost(array_count_elements(req->root, linitial(args)),
										   array_count_elements(req->root, lsecond(args)));
	if (array_operator(req->funcid) == OID_ARRAY_CONTAINED_OP)
		req->per_tuple /= 2;
	return true;
}

/*
 * Support function of the functions that compute a condition or a distance of fingerprints or
 * arrays, and of those of operators on simhash_ball.  Returns the request with its result, or
 * NULL if it does not serve the request.
 *
 * For a distance of arrays, it serves only the cost.  For a Hamming distance and for operators
 * on balls, it serves no request.  But the planner calls it when it simplifies the expressions
 * of a query, and that loads this library.  So the library's hooks are installed before the
 * planner reads the query's tables, even for the first query of a session.
 */
PG_FUNCTION_INFO_V1(simhash_support);
Datum
simhash_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	bool		served = false;

	if (IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(index_condition((SupportRequestIndexCondition *) request));
	if (IsA(request, SupportRequestSelectivity))
		served = estimate_selectivity((SupportRequestSelectivity *) request);
	else if (IsA(request, SupportRequestCost))
		served = estimate_cost((SupportRequestCost *) request);
	PG_RETURN_POINTER(served ? request : NULL);
}
