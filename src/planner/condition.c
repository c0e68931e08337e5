/*
 * Conditions on a distance: the one reader of clauses
 *
 * A condition is written as a comparison of a distance with a number, as a call of a function
 * that the rewrite puts in its place, or as an operator with a ball.  The rewrite, the
 * estimates, the costs of indexes and the similarity join read all of these here.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "planner/planner.h"
#include "type/simhash_type.h"
#include "type/strategy.h"

/* --- radii ---------------------------------------------------------------------- */

/*
 * Return a radius in bits or as a fraction, as a Const.
 */
static Node *
make_radius(const Distance *distance, double radius)
{
	return distance->of_arrays ? make_constant(FLOAT8OID, Float8GetDatum(radius)) :
		make_constant(INT8OID, Int64GetDatum((int64) radius));
}

/*
 * Return the greatest distance.
 */
static int
greatest_distance(const Distance *distance)
{
	return distance->of_arrays ? 1 : SIMHASH_BITS;
}

/*
 * Return the value of a radius that is a constant and not NULL, else `otherwise`.
 */
static double
constant_radius(const Distance *distance, const Node *radius, double otherwise)
{
	const Const *constant = (const Const *) radius;

	if (constant == NULL || !IsA(constant, Const) || constant->constisnull)
		return otherwise;
	return distance->of_arrays ? DatumGetFloat8(constant->constvalue) :
		simhash_clamp_radius(DatumGetInt64(constant->constvalue));
}

/*
 * Return a radius: in bits, clamped to the range of a ball's radius, or as a fraction.  Returns
 * BALL_EMPTY if it is NULL.  If the planner does not know the radius, sets *known to false and
 * returns the one to assume.
 */
double
condition_radius(PlannerInfo *root, const Distance *distance, Node *radius, bool *known)
{
	const Const *constant = radius ? (Const *) estimate_expression_value(root, radius) : NULL;

	*known = constant && IsA(constant, Const) && constant->consttype == distance->radius_type;
	if (!*known)
		return distance->of_arrays ? UNKNOWN_FRACTION_RADIUS : UNKNOWN_RADIUS;
	return constant_radius(distance, (const Node *) constant, BALL_EMPTY);
}

/*
 * Return true if a condition bounds the distance from above, as far as is known.
 */
bool
condition_is_bounded(const Condition *condition)
{
	return float8_lt(constant_radius(condition->distance, condition->radius, BALL_EMPTY),
					 greatest_distance(condition->distance));
}

/* --- comparisons ---------------------------------------------------------------- */

/* A call with two arguments, written as an operator or as a function. */
typedef struct Call
{
	Oid			callee_class;	/* OperatorRelationId or ProcedureRelationId */
	Oid			callee;			/* OID of the operator or function, in that catalog */
	Oid			function;		/* OID of the function that is called */
	List	   *args;
} Call;

/*
 * Read a call.  Returns false if the node is not a call with two arguments.
 */
static bool
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
 * Return the distance that a node computes, and set *call, or return NULL.
 */
static const Distance *
read_distance(Node *node, Call *call)
{
	return read_call(strip_widening(node), call) ? objects_distance(call->function) : NULL;
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
	if (distance->of_arrays)
		return type == FLOAT4OID || type == FLOAT8OID;
	return type == INT2OID || type == INT4OID || type == INT8OID ||
		type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID;
}

/*
 * Read a comparison of a distance with a number.  Returns false for any other clause, and
 * for a volatile clause, since a rewrite may change how often the clause is evaluated.
 *
 * An equality reads its bound twice, so it must not contain a subplan.
 */
bool
condition_read_comparison(Node *clause, Condition *condition)
{
	OpExpr	   *op = (OpExpr *) clause;
	SimHashObjects objects;
	Call		call;
	Call		other;
	const Distance *distance;
	Node	   *bound;
	int			strategy;

	if (!IsA(clause, OpExpr) || list_length(op->args) != 2)
		return false;

	/* one side must be a distance, and the other must not, since a distance is no bound */
	bound = lsecond(op->args);
	distance = read_distance(linitial(op->args), &call);
	if (distance && read_distance(bound, &other))
		return false;
	if (distance == NULL)
	{
		distance = read_distance(bound, &call);
		bound = linitial(op->args);
	}
	if (distance == NULL)
		return false;
	strategy = number_strategy(op->opno);
	if (strategy == InvalidStrategy)
		return false;
	/* commute the operator: strategies are numbered from 1 (less) to 5 (greater) */
	if (bound == linitial(op->args))
		strategy = BTMaxStrategyNumber + 1 - strategy;
	if (!objects_find(distance, &objects) || !is_bound_type(distance, exprType(bound)) ||
		contain_volatile_functions(clause) ||
		(strategy == BTEqualStrategyNumber && contain_subplans(bound)))
		return false;
	*condition = (Condition) {
		.distance = distance,
		.function = objects.distance_function,
		.a = linitial(call.args),
		.b = lsecond(call.args),
		.count = 1,
		.callee_class = call.callee_class,
		.callee = call.callee
	};
	if (strategy <= BTEqualStrategyNumber)
		bound_check_unit(!distance->of_arrays, bound);
	condition->radius = strategy <= BTEqualStrategyNumber ?
		(Node *) bound_radius(&objects, bound, strategy == BTLessStrategyNumber) :
		make_radius(distance, greatest_distance(distance));
	if (strategy >= BTEqualStrategyNumber)
	{
		condition->above = (Node *) bound_radius(&objects, bound, strategy != BTGreaterStrategyNumber);
		/* a bound below all distances is none */
		if (float8_lt(constant_radius(distance, condition->above, 0), 0))
			condition->above = NULL;
	}
	return true;
}

/*
 * Raise a NOTICE if a clause bounds the distance of signatures by a constant above 1.  No
 * index serves such a clause.
 */
void
condition_check_signatures(Node *clause)
{
	OpExpr	   *op = (OpExpr *) clause;
	Call		call;
	int			strategy;

	if (!IsA(clause, OpExpr) || list_length(op->args) != 2 ||
		!read_call(linitial(op->args), &call) || call.function != objects_of_signatures()->distance_function)
		return;
	strategy = number_strategy(op->opno);
	if (strategy != InvalidStrategy && strategy <= BTEqualStrategyNumber)
		bound_check_unit(false, lsecond(op->args));
}

/*
 * Return true if a condition bounds the distance from below and from above, as an equality does.
 */
bool
condition_is_equality(const Condition *condition)
{
	return condition->above && condition_is_bounded(condition);
}

/*
 * If one of two conditions on the same distance only bounds it from above, and the other one
 * only from below, add the other one's bound to *condition.  Returns false if they are not
 * such conditions, or if a bound contains a column or a subplan: it may be evaluated only if
 * the other one is met.
 */
bool
condition_merge(Condition *condition, const Condition *other)
{
	List	   *bounds = list_make4(condition->radius, condition->above, other->radius, other->above);

	if (condition->distance != other->distance || !equal(condition->a, other->a) ||
		!equal(condition->b, other->b) || contain_var_clause((Node *) bounds) ||
		contain_subplans((Node *) bounds))
		return false;
	if (condition->above == NULL && other->above && !condition_is_bounded(other))
		condition->above = other->above;
	else if (condition->above && !condition_is_bounded(condition) && other->above == NULL)
		condition->radius = other->radius;
	else
		return false;
	return true;
}

/* --- calls ---------------------------------------------------------------------- */

/*
 * Return a copy of an expression.  The copy of a constant has the same value, not a copy of
 * it, since an array may be large.
 */
static Node *
copy_argument(Node *node)
{
	Const	   *constant;

	if (!IsA(node, Const))
		return copyObject(node);
	constant = makeNode(Const);
	*constant = *(Const *) node;
	return (Node *) constant;
}

/*
 * Return the call of a function with the two values of a condition, and further arguments.
 */
Node *
condition_make_call(const Condition *condition, Oid function, List *further)
{
	List	   *args = list_make2(copy_argument(condition->a), copy_argument(condition->b));

	return (Node *) makeFuncExpr(function, BOOLOID, list_concat(args, further), InvalidOid,
								 InvalidOid, COERCE_EXPLICIT_CALL);
}

/*
 * Return the call of `within` or `between` that computes a condition on a distance.
 */
Node *
condition_make_bounds(const Condition *condition, const SimHashObjects *objects)
{
	if (condition->above)
		return condition_make_call(condition, objects->between,
								   list_make2(condition->radius, condition->above));
	return condition_make_call(condition, objects->within, list_make1(condition->radius));
}

/*
 * Return the condition that signatures a and b share a band, or that arrays have an element in
 * common, which is a <%>> b < 1.  The latter holds for a <@ b, too, unless a is empty.
 */
static Condition
condition_of_two(const Distance *distance, Oid function, List *args)
{
	return (Condition) {
		.distance = distance,
		.function = function,
		.type = distance ? InvalidOid : exprType(linitial(args)),
		.a = linitial(args),
		.b = lsecond(args),
		.radius = distance ? make_constant(FLOAT8OID, Float8GetDatum(fraction_below(1))) : NULL,
		.count = 1
	};
}

/*
 * Read a call of `within` or `between` of a distance.  Returns false for any other function.
 */
static bool
read_distance_call(Oid function, List *args, Condition *condition)
{
	SimHashObjects objects;

	if (!objects_find_condition(function, &objects))
		return false;
	*condition = (Condition) {
		.distance = objects.distance,
		.function = function,
		.a = linitial(args),
		.b = lsecond(args),
		.radius = lthird(args),
		.above = function == objects.between ? lfourth(args) : NULL,
		.count = 1
	};
	return true;
}

/*
 * Read the third argument of a call of simhash_beside: a comparison, or a call of `within` or
 * `between`.  Returns false for any other clause, and for one that compares other values than
 * the first two arguments.  The rewrite writes no such calls.
 */
static bool
read_beside(List *args, Condition *condition)
{
	FuncExpr   *call = lthird(args);

	return (IsA(call, FuncExpr) ? read_distance_call(call->funcid, call->args, condition) :
			condition_read_comparison((Node *) call, condition)) &&
		equal(condition->a, linitial(args)) && equal(condition->b, lsecond(args));
}

/*
 * Read a call of a function that computes a condition: within, between, simhash_beside,
 * shares_band, sketch_overlaps, sketch_contained, or the function of %, && or <@.  Returns
 * false for any other function, and for a call of simhash_beside that read_beside() refuses.
 */
bool
condition_read_call(Oid function, List *args, Condition *condition)
{
	SimHashObjects objects;

	if (function == objects_of_signatures()->within)
	{
		*condition = condition_of_two(NULL, function, args);
		return true;
	}
	if (function == objects_beside())
		return read_beside(args, condition);
	if (read_distance_call(function, args, condition))
		return true;
	if (objects_find(&distance_containment, &objects) &&
		(function == objects.overlaps || function == objects.contained ||
		 function == F_ARRAYOVERLAP || function == F_ARRAYCONTAINED))
	{
		*condition = condition_of_two(&distance_containment, function, args);
		return true;
	}
	return false;
}

/*
 * Return true if a clause is a call of simhash_beside(), which the clause beside it implies.
 */
bool
condition_is_beside(Node *clause)
{
	return IsA(clause, FuncExpr) && ((FuncExpr *) clause)->funcid == objects_beside();
}

/*
 * Read a clause that is a comparison, a call, or sig % sig.  Returns false for any other clause.
 */
bool
condition_read(Node *clause, Condition *condition)
{
	Call		call;

	if (condition_read_comparison(clause, condition))
		return true;
	if (IsA(clause, FuncExpr))
		return condition_read_call(((FuncExpr *) clause)->funcid, ((FuncExpr *) clause)->args,
								   condition);
	return read_call(clause, &call) && call.function == objects_of_signatures()->within &&
		condition_read_call(call.function, call.args, condition);
}

/*
 * Read the bound on a distance that an arm of an OR implies: of an AND, the first one that is
 * a constant.
 */
static bool
read_arm(Node *arm, Condition *condition)
{
	ListCell   *lc;

	foreach(lc, is_andclause(arm) ? ((BoolExpr *) arm)->args : list_make1(arm))
		if (condition_read(lfirst(lc), condition) && condition->distance &&
			float8_lt(constant_radius(condition->distance, condition->radius,
									  get_float8_infinity()),
					  greatest_distance(condition->distance)))
			return true;
	return false;
}

/*
 * Read the weakest bound on a distance that an OR implies.  Returns false unless each arm
 * bounds the same distance by a constant.
 */
bool
condition_read_implied(Node *clause, Condition *weakest)
{
	ListCell   *lc;

	foreach(lc, ((BoolExpr *) clause)->args)
	{
		Condition	condition;

		if (!read_arm(lfirst(lc), &condition))
			return false;
		if (foreach_current_index(lc) == 0)
			*weakest = condition;
		else if (condition.distance != weakest->distance ||
				 !equal(condition.a, weakest->a) || !equal(condition.b, weakest->b))
			return false;
		else if (float8_gt(constant_radius(condition.distance, condition.radius, 0),
						   constant_radius(condition.distance, weakest->radius, 0)))
			weakest->radius = condition.radius;
	}
	weakest->above = NULL;
	return true;
}

/*
 * Read a && b, a <@ b or b @> a, for arrays of bigint.  The condition's function is the one that
 * can replace the operator.  Sets *symmetric to true if b may be the index column, too.  Returns
 * false for any other clause.
 *
 * Returns false, too, where an administrator has marked the operator's function as
 * leakproof.  Then an index may serve the operator below a security barrier, but not the
 * function that would replace it.
 */
bool
condition_read_array_operator(Node *clause, Condition *condition, bool *symmetric)
{
	SimHashObjects objects;
	Call		call;

	if (!IsA(clause, OpExpr) || !read_call(clause, &call) ||
		(call.callee != OID_ARRAY_OVERLAP_OP && call.callee != OID_ARRAY_CONTAINED_OP &&
		 call.callee != OID_ARRAY_CONTAINS_OP) ||
		exprType(linitial(call.args)) != INT8ARRAYOID ||
		exprType(lsecond(call.args)) != INT8ARRAYOID ||
		get_func_leakproof(call.function) ||
		!objects_find(&distance_containment, &objects))
		return false;
	if (call.callee == OID_ARRAY_CONTAINS_OP)
		call.args = list_make2(lsecond(call.args), linitial(call.args));
	*symmetric = call.callee == OID_ARRAY_OVERLAP_OP;
	*condition = condition_of_two(&distance_containment,
								  *symmetric ? objects.overlaps : objects.contained, call.args);
	condition->callee_class = call.callee_class;
	condition->callee = call.callee;
	return true;
}

/* --- operators with balls ----------------------------------------------------------- */

/*
 * Return true if an expression is a call of the function that makes a ball.
 */
static bool
is_ball_of(Node *ball, const SimHashObjects *objects)
{
	return is_funcclause(ball) && ((FuncExpr *) ball)->funcid == objects->ball;
}

/*
 * Read an argument that is a ball.  Returns false if the ball, its center or its radius is
 * a NULL constant.  If the planner does not know the ball, returns true and leaves *center and
 * *radius unchanged.
 */
static bool
read_ball(PlannerInfo *root, const SimHashObjects *objects, Node *ball, Node **center,
		  Node **radius)
{
	Datum		of_center;
	Datum		of_radius;

	if (!is_ball_of(ball, objects))
		ball = estimate_expression_value(root, ball);
	if (is_ball_of(ball, objects))
	{
		*center = linitial(((FuncExpr *) ball)->args);
		*radius = lsecond(((FuncExpr *) ball)->args);
	}
	else if (IsA(ball, Const))
	{
		if (((Const *) ball)->constisnull ||
			!distance_open_ball(objects->distance, ((Const *) ball)->constvalue, &of_center,
								&of_radius))
			return false;
		*center = make_constant(objects->type, of_center);
		*radius = make_constant(objects->distance->radius_type, of_radius);
	}
	return true;
}

/*
 * Return the value of a radius, or infinity if the planner does not know it.
 */
static double
known_radius(PlannerInfo *root, const Distance *distance, Node *radius)
{
	bool		known;
	double		value = condition_radius(root, distance, radius, &known);

	return known ? value : get_float8_infinity();
}

/*
 * Read the arguments of fp <@ ball or ball =~= ball.  Returns false if the arguments have
 * other types, or if a ball is NULL.  If a ball is NULL, sets *otherwise to 0.
 *
 * The types are checked because an operator with any argument types may have these estimators.
 */
static bool
read_ball_operands(PlannerInfo *root, const SimHashObjects *objects, List *args,
				   Condition *condition, Selectivity *otherwise)
{
	Node	   *center[2] = {NULL}; /* of each ball, or the value; NULL if unknown */
	Node	   *radius[2] = {NULL}; /* of each ball; NULL if unknown */
	int			value = -1;		/* index of the argument that is not a ball; -1 if both are
								 * balls */
	int			first;

	for (int i = 0; i < 2; i++)
	{
		Node	   *argument = list_nth(args, i);

		if (exprType(argument) == objects->type && value < 0)
		{
			center[i] = argument;
			value = i;
		}
		else if (exprType(argument) != objects->ball_type)
			return false;
		else if (!read_ball(root, objects, argument, &center[i], &radius[i]))
		{
			*otherwise = 0;
			return false;
		}
	}

	/*
	 * If both arguments are balls, and the center of one of them is unknown, that ball
	 * becomes a.  A column of balls has statistics, which are used like those of a column
	 * of centers.
	 */
	first = value >= 0 ? value : center[1] == NULL;
	condition->a = center[first] ? center[first] : list_nth(args, first);
	condition->b = center[1 - first];
	if (!objects->distance->of_arrays)
	{
		condition->ball = objects->ball_type;
		if (condition->b == NULL)
			condition->b = list_nth(args, 1 - first);
	}
	if (value >= 0)
		condition->radius = radius[1 - value];
	else
		condition->radius = radius[1] &&
			float8_le(known_radius(root, objects->distance, radius[1]),
					  known_radius(root, objects->distance, radius[0])) ? radius[1] : radius[0];
	return true;
}

/*
 * Read an operator with a ball, or sig % sig, from the arguments of an estimator.  Returns false
 * if it is neither.  Then sets *otherwise to the selectivity that the estimator should return.
 */
bool
condition_read_operator(PlannerInfo *root, Oid operator, List *args, Condition *condition,
						Selectivity *otherwise)
{
	Oid			function = get_opcode(operator);
	const Distance *distance = NULL;
	SimHashObjects objects;

	*otherwise = DEFAULT_MATCHING_SEL;
	if (list_length(args) != 2)
		return false;
	if (function == objects_of_signatures()->within)
		return condition_read_call(function, args, condition);
	for (int i = 0; i < 2 && distance == NULL; i++)
		distance = objects_distance_of_ball(exprType(list_nth(args, i)), function);
	if (distance == NULL || !objects_find(distance, &objects))
		return false;
	*condition = (Condition) {.distance = distance,.function = function,.count = 1};
	return read_ball_operands(root, &objects, args, condition, otherwise);
}

/*
 * Read the ball that an index searches for into b and radius of *condition, which must be NULL.
 * A NULL ball is an empty one.
 */
static void
read_search_ball(PlannerInfo *root, const SimHashObjects *objects, Node *ball,
				 Condition *condition)
{
	if (!read_ball(root, objects, ball, &condition->b, &condition->radius))
		condition->radius = make_radius(objects->distance, BALL_EMPTY);
}

/*
 * Read the balls of an array that an index searches for.  The radius is the greatest one, or
 * unknown if one is.
 */
static void
read_search_array(PlannerInfo *root, const SimHashObjects *objects, Node *array,
				  Condition *condition)
{
	double		greatest = BALL_EMPTY;
	List	   *balls = NIL;
	ListCell   *lc;

	condition->count = estimate_elements(root, array);
	array = estimate_expression_value(root, array);
	if (IsA(array, Const) && !((Const *) array)->constisnull)
	{
		ArrayIterator elements =
			array_create_iterator(DatumGetArrayTypeP(((Const *) array)->constvalue), 0, NULL);
		Datum		ball;
		bool		isnull;

		while (array_iterate(elements, &ball, &isnull))
			if (!isnull)
				balls = lappend(balls, make_constant(objects->ball_type, ball));
	}
	else if (IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims)
		balls = ((ArrayExpr *) array)->elements;
	else
		return;
	foreach(lc, balls)
	{
		Condition	one = {.distance = condition->distance};

		read_search_ball(root, objects, lfirst(lc), &one);
		greatest = Max(greatest, known_radius(root, objects->distance, one.radius));
	}
	if (!isinf(greatest))
		condition->radius = make_radius(objects->distance, greatest);
}

/*
 * Read the search for a ball, or for each of an array of balls, from an index condition.  `=`
 * of an operator family searches within a radius of 0.  Sets b to the center, or to NULL if
 * the center is unknown or there are several.  Returns false for other types.
 */
bool
condition_read_search(PlannerInfo *root, Node *clause, Oid opfamily, Condition *condition)
{
	bool		of_array = IsA(clause, ScalarArrayOpExpr);
	Oid			operator;
	List	   *args;
	Oid			type;
	SimHashObjects objects;

	if (!of_array && !IsA(clause, OpExpr))
		return false;
	operator = of_array ? ((ScalarArrayOpExpr *) clause)->opno : ((OpExpr *) clause)->opno;
	args = of_array ? ((ScalarArrayOpExpr *) clause)->args : ((OpExpr *) clause)->args;
	type = exprType(lsecond(args));
	if (of_array)
		type = get_base_element_type(type);
	*condition = (Condition) {
		.distance = objects_distance_of_ball(type, get_opcode(operator)),
		.count = 1
	};
	if (get_op_opfamily_strategy(operator, opfamily) == STRATEGY_EQUAL &&
		objects_find(&distance_hamming, &objects) &&
		(type == objects.type || type == objects.ball_type))
	{
		condition->distance = &distance_hamming;
		condition->radius = make_radius(condition->distance, 0);
		condition->b = of_array ? NULL : lsecond(args);
		condition->count = of_array ? estimate_elements(root, lsecond(args)) : 1;
		return true;
	}
	if (condition->distance == NULL || !objects_find(condition->distance, &objects))
		return false;
	if (of_array)
		read_search_array(root, &objects, lsecond(args), condition);
	else
		read_search_ball(root, &objects, lsecond(args), condition);
	return true;
}

/*
 * Set *searches to the searches of an index path.  A scan combines the searches of its clauses,
 * each with each, and searches within the smaller radius.  If several columns have conditions on
 * fingerprints, uses only those on the first of these columns.
 */
void
condition_read_searches(PlannerInfo *root, IndexPath *path, Searches *searches)
{
	ListCell   *lc;
	ListCell   *lc2;

	*searches = (Searches) {.column = -1,.count = 1,.radius = SIMHASH_BITS};
	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		foreach(lc2, clause->indexquals)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc2);
			Condition	ball;
			bool		known;
			int			radius;

			if (searches->column >= 0 && searches->column != clause->indexcol)
				break;
			searches->nulls |= IsA(rinfo->clause, NullTest) &&
				((NullTest *) rinfo->clause)->nulltesttype == IS_NULL;
			if (!condition_read_search(root, (Node *) rinfo->clause,
									   path->indexinfo->opfamily[clause->indexcol], &ball))
			{
				searches->others = lappend(searches->others, rinfo);
				continue;
			}
			searches->column = clause->indexcol;
			searches->count *= ball.count;
			radius = condition_radius(root, ball.distance, ball.radius, &known);
			if (radius <= searches->radius)
			{
				searches->radius = radius;
				searches->unknown = !known;
				searches->center = ball.b;
			}
		}
	}
}
