/*
 * Read comparisons of a distance with a number
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "planner/comparison.h"

/*
 * Read a call.  Returns false if the node is not a call with two arguments.
 */
bool
read_call(Node *node, Call *call)
{
	if (IsA(node, OpExpr))
	{
		OpExpr	   *op = (OpExpr *) node;

		set_opfuncid(op);
		*call = (Call) {OperatorRelationId, op->opno, op->opfuncid, op->args};
	}
	else if (IsA(node, FuncExpr))
	{
		FuncExpr   *func = (FuncExpr *) node;

		*call = (Call) {ProcedureRelationId, func->funcid, func->funcid, func->args};
	}
	else
		return false;
	return list_length(call->args) == 2;
}

/*
 * Read an expression that computes a distance.  Sets the fields objects, callee_class,
 * callee, a and b of *comparison.  Returns false if the expression is not a call of a
 * distance function.
 */
static bool
read_distance(Node *node, Comparison *comparison)
{
	Call		call;
	const Distance *distance;

	if (!read_call(node, &call))
		return false;
	distance = objects_distance(call.function);
	if (distance == NULL || !objects_find(distance, &comparison->objects))
		return false;
	comparison->callee_class = call.callee_class;
	comparison->callee = call.callee;
	comparison->a = linitial(call.args);
	comparison->b = lsecond(call.args);
	return true;
}

/*
 * If a node is a cast of an integer to a wider type, return its argument, else the node
 * itself.  A Hamming distance has the same value in all of these types.
 */
static Node *
strip_widening(Node *node)
{
	FuncExpr   *cast = (FuncExpr *) node;

	if (IsA(node, FuncExpr) &&
		(cast->funcid == F_INT8_INT4 || cast->funcid == F_NUMERIC_INT4 ||
		 cast->funcid == F_FLOAT4_INT4 || cast->funcid == F_FLOAT8_INT4))
		return linitial(cast->args);
	return node;
}

/*
 * Return the btree strategy number of an operator that compares numbers, or
 * InvalidStrategy if it does not compare numbers.
 */
static int
number_strategy(Oid operator)
{
	int			strategy = get_op_opfamily_strategy(operator, INTEGER_BTREE_FAM_OID);

	if (strategy == InvalidStrategy)
		strategy = get_op_opfamily_strategy(operator, FLOAT_BTREE_FAMILY);
	if (strategy == InvalidStrategy)
		strategy = get_op_opfamily_strategy(operator, NUMERIC_BTREE_FAMILY);
	return strategy;
}

/*
 * Return true if a bound of this type can be converted to a radius.
 */
static bool
is_bound_type(const Distance *distance, Oid type)
{
	if (distance->radius_type == FLOAT8OID)
		return type == FLOAT4OID || type == FLOAT8OID;
	return type == INT2OID || type == INT4OID || type == INT8OID ||
		type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID;
}

/*
 * Read a clause that bounds a distance from above.  Returns false for any other clause,
 * and for a volatile clause, since a rewrite may change how often the clause is evaluated.
 */
bool
read_comparison(Node *clause, Comparison *comparison)
{
	OpExpr	   *op = (OpExpr *) clause;
	Comparison	other;
	Node	   *left;
	Node	   *right;

	if (!IsA(clause, OpExpr) || list_length(op->args) != 2)
		return false;

	/* one side must be a distance, and the other must not, since a distance is no bound */
	left = strip_widening(linitial(op->args));
	right = strip_widening(lsecond(op->args));
	if (read_distance(left, comparison))
	{
		if (read_distance(right, &other))
			return false;
		comparison->bound = lsecond(op->args);
	}
	else
	{
		if (!read_distance(right, comparison))
			return false;
		comparison->bound = linitial(op->args);
	}

	comparison->strategy = number_strategy(op->opno);
	if (comparison->strategy == InvalidStrategy)
		return false;
	/* commute the operator: strategies are numbered from 1 (less) to 5 (greater) */
	if (comparison->bound == linitial(op->args))
		comparison->strategy = BTMaxStrategyNumber + 1 - comparison->strategy;
	return comparison->strategy <= BTEqualStrategyNumber &&
		is_bound_type(comparison->objects.distance, exprType(comparison->bound)) &&
		!contain_volatile_functions(clause);
}

/*
 * Return the constant that bounds the distance of two signatures from above, or NULL if a
 * clause has none.  No index serves such a clause.
 */
const Const *
read_signature_bound(Node *clause)
{
	OpExpr	   *op = (OpExpr *) clause;
	const Const *bound;
	Call		call;
	int			strategy;

	if (!IsA(clause, OpExpr) || list_length(op->args) != 2 ||
		!read_call(linitial(op->args), &call) || !objects_is_signature_distance(call.function))
		return NULL;
	bound = lsecond(op->args);
	strategy = number_strategy(op->opno);
	return IsA(bound, Const) && !bound->constisnull && strategy != InvalidStrategy &&
		strategy <= BTEqualStrategyNumber ? bound : NULL;
}

/*
 * Read a && b, a <@ b or b @> a, for arrays of bigint.  Returns false for any other clause.
 *
 * Returns false, too, where an administrator has marked the operator's function as
 * leakproof.  Then an index may serve the operator below a security barrier, but not the
 * function that would replace it.
 */
bool
read_array_operator(Node *clause, ArrayOperator *result)
{
	Comparison *operands = &result->operands;
	Call		call;

	if (!IsA(clause, OpExpr) || !read_call(clause, &call) ||
		(call.callee != OID_ARRAY_OVERLAP_OP && call.callee != OID_ARRAY_CONTAINED_OP &&
		 call.callee != OID_ARRAY_CONTAINS_OP) ||
		exprType(linitial(call.args)) != INT8ARRAYOID ||
		exprType(lsecond(call.args)) != INT8ARRAYOID ||
		get_func_leakproof(call.function) ||
		!objects_find(&distance_containment, &operands->objects))
		return false;
	operands->callee_class = call.callee_class;
	operands->callee = call.callee;
	operands->a = linitial(call.args);
	operands->b = lsecond(call.args);
	if (call.callee == OID_ARRAY_CONTAINS_OP)
	{
		operands->a = lsecond(call.args);
		operands->b = linitial(call.args);
	}
	result->symmetric = call.callee == OID_ARRAY_OVERLAP_OP;
	result->function = result->symmetric ?
		operands->objects.overlaps : operands->objects.contained;
	return true;
}
