/*
 * The predicate that is estimated: two values, and how near they must be
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "planner/comparison.h"
#include "planner/predicate.h"
#include "type/simhash_type.h"

/* --- the radius --------------------------------------------------------------- */

/*
 * Return the radius as a Const of a type, perhaps a NULL.  Returns a NULL pointer if the
 * planner does not know the radius, or if it has another type.
 */
static const Const *
constant_radius(PlannerInfo *root, Node *radius, Oid type)
{
	const Const *constant = NULL;

	if (radius)
		constant = (const Const *) estimate_expression_value(root, radius);
	return constant && IsA(constant, Const) && constant->consttype == type ? constant : NULL;
}

/*
 * Return the radius in bits, clamped to the range of a ball's radius.  Returns BALL_EMPTY
 * if the radius is NULL.  If the planner does not know the radius, sets *known to false
 * and returns UNKNOWN_RADIUS.
 */
int
predicate_radius(PlannerInfo *root, Node *radius, bool *known)
{
	const Const *constant = constant_radius(root, radius, INT8OID);

	*known = constant != NULL;
	if (!*known)
		return UNKNOWN_RADIUS;
	return constant->constisnull ? BALL_EMPTY :
		simhash_clamp_radius(DatumGetInt64(constant->constvalue));
}

/*
 * Return a radius that is a fraction, not a number of bits.  Returns -1 if the radius is NULL.
 * If the planner does not know the radius, sets *known to false and returns
 * UNKNOWN_FRACTION_RADIUS.
 */
double
predicate_fraction_radius(PlannerInfo *root, Node *radius, bool *known)
{
	const Const *constant = constant_radius(root, radius, FLOAT8OID);

	*known = constant != NULL;
	if (!*known)
		return UNKNOWN_FRACTION_RADIUS;
	return constant->constisnull ? -1 : DatumGetFloat8(constant->constvalue);
}

/* --- reading a condition ------------------------------------------------------- */

/*
 * Read the predicate that a call of simhash_within, containment_within or jaccard_within
 * computes.  Its function is the one that computes the distance.  Returns false for a call
 * of another function.
 */
bool
predicate_read_within(Oid function, List *args, Predicate *predicate)
{
	SimHashObjects objects;

	if (!objects_find_within(function, &objects))
		return false;
	*predicate = (Predicate) {
		.distance = objects.distance,
		.function = objects.distance_function,
		.a = linitial(args),
		.b = lsecond(args),
		.radius = lthird(args)
	};
	return true;
}

/*
 * Read a clause that bounds a distance from above: a comparison, or a call that
 * predicate_read_within() can read.  Sets *exact to true if the clause is equivalent to
 * distance(a, b) <= radius.  Returns false for any other clause.
 */
bool
predicate_read_bound(Node *clause, Predicate *predicate, bool *exact)
{
	FuncExpr   *func = (FuncExpr *) clause;
	Comparison	comparison;

	if (read_comparison(clause, &comparison))
	{
		*predicate = (Predicate) {
			.distance = comparison.objects.distance,
			.function = comparison.objects.distance_function,
			.equality = comparison.strategy == BTEqualStrategyNumber,
			.a = comparison.a,
			.b = comparison.b,
			.radius = (Node *) bound_radius(&comparison, exact)
		};
		return true;
	}
	*exact = true;
	return IsA(clause, FuncExpr) && predicate_read_within(func->funcid, func->args, predicate);
}

/*
 * Return true if an expression is a call of the function that makes a ball.
 */
static bool
is_ball_of(Node *ball, const SimHashObjects *objects)
{
	return is_funcclause(ball) && ((FuncExpr *) ball)->funcid == objects->ball;
}

/*
 * Return the radius of a ball that is written as simhash_ball(center, radius).  Returns
 * NULL for any other expression.
 */
Node *
predicate_ball_radius(Node *ball)
{
	SimHashObjects objects;

	if (!objects_find(&distance_hamming, &objects) || !is_ball_of(ball, &objects))
		return NULL;
	return lsecond(((FuncExpr *) ball)->args);
}

/* An argument of <@ or =~=: a ball, or a value, which has no radius. */
typedef struct Side
{
	Node	   *center;			/* center of the ball, or the value; NULL if unknown */
	Node	   *radius;			/* radius of the ball; NULL if unknown or if there is none */
} Side;

/*
 * Return a Const with a value that is not NULL.
 */
Node *
make_constant(Oid type, Datum value)
{
	int16		length;
	bool		byval;

	get_typlenbyval(type, &length, &byval);
	return (Node *) makeConst(type, -1, InvalidOid, length, value, false, byval);
}

/*
 * Read an argument that is a ball.  Returns false if the ball, its center or its radius is
 * a NULL constant.  If the planner does not know the ball, returns true and leaves *side
 * unchanged.
 */
static bool
read_ball_side(PlannerInfo *root, const SimHashObjects *objects, Node *ball, Side *side)
{
	Datum		center;
	Datum		radius;

	if (!is_ball_of(ball, objects))
		ball = estimate_expression_value(root, ball);
	if (is_ball_of(ball, objects))
	{
		side->center = linitial(((FuncExpr *) ball)->args);
		side->radius = lsecond(((FuncExpr *) ball)->args);
	}
	else if (IsA(ball, Const))
	{
		if (((Const *) ball)->constisnull)
			return false;
		if (!objects->distance->open_ball(((Const *) ball)->constvalue, &center, &radius))
			return false;
		side->center = make_constant(objects->type, center);
		side->radius = make_constant(objects->distance->radius_type, radius);
	}
	return true;
}

/*
 * Return the smaller radius if both are constant, else whichever is constant, else
 * either.  Either radius may be NULL.
 */
static Node *
smaller_radius(PlannerInfo *root, const Distance *distance, Node *a, Node *b)
{
	bool		of_arrays = distance->of_arrays;
	bool		a_known;
	bool		b_known;
	double		a_radius = of_arrays ? predicate_fraction_radius(root, a, &a_known) :
		predicate_radius(root, a, &a_known);
	double		b_radius = of_arrays ? predicate_fraction_radius(root, b, &b_known) :
		predicate_radius(root, b, &b_known);

	if (a_known && b_known)
		return float8_lt(a_radius, b_radius) ? a : b;
	return b == NULL || a_known ? a : b;
}

/*
 * Read fp <@ ball or ball =~= ball as distance(a, b) <= radius.  Returns false if the
 * arguments have other types, or if a ball is NULL.  Then sets *otherwise to the
 * selectivity that the estimator should return.
 *
 * The types are checked because an operator with any argument types may have these
 * estimators.
 */
bool
predicate_read_ball(PlannerInfo *root, const Distance *distance, Oid operator, List *args,
					Predicate *predicate, Selectivity *otherwise)
{
	SimHashObjects objects;
	Side		side[2] = {0};
	int			value = -1;		/* index of the argument that is not a ball; -1 if both are
								 * balls */
	int			first;

	*otherwise = DEFAULT_MATCHING_SEL;
	memset(predicate, 0, sizeof(Predicate));
	if (list_length(args) != 2 || !objects_find(distance, &objects))
		return false;
	for (int i = 0; i < 2; i++)
	{
		Node	   *argument = list_nth(args, i);

		if (exprType(argument) == objects.type && value < 0)
		{
			side[i].center = argument;
			value = i;
		}
		else if (exprType(argument) != objects.ball_type)
			return false;
		else if (!read_ball_side(root, &objects, argument, &side[i]))
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
	first = value >= 0 ? value : side[1].center == NULL;
	predicate->distance = distance;
	predicate->function = get_opcode(operator);
	predicate->a = side[first].center ? side[first].center : list_nth(args, first);
	predicate->b = side[1 - first].center;
	if (distance == &distance_hamming)
	{
		predicate->ball = objects.ball_type;
		if (predicate->b == NULL)
			predicate->b = list_nth(args, 1 - first);
	}
	predicate->radius = value >= 0 ? side[1 - value].radius :
		smaller_radius(root, distance, side[0].radius, side[1].radius);
	return true;
}

/*
 * Return the predicate that shares_band or the operator % computes.  `function` is the OID
 * of the function or of the operator's function.
 */
Predicate
predicate_of_band(Oid function, List *args)
{
	return (Predicate) {
		.type = exprType(linitial(args)),
		.function = function,
		.a = linitial(args),
		.b = lsecond(args)
	};
}

/*
 * Return the predicate that two arrays have an element in common: a <%>> b < 1.  `function`
 * is the OID of the function that computes it.  It estimates a <@ b, too: an array that is
 * in b has an element in common with b, unless it is empty.
 */
Predicate
predicate_of_overlap(Oid function, List *args)
{
	return (Predicate) {
		.distance = &distance_containment,
		.function = function,
		.a = linitial(args),
		.b = lsecond(args),
		.radius = make_constant(FLOAT8OID, Float8GetDatum(nextafter(1, 0)))
	};
}

/* --- comparing -------------------------------------------------------------- */

/*
 * Return true if a predicate has the arguments a and b, in this order or, if its distance
 * is symmetric, in either order.
 */
bool
predicate_has_pair(const Predicate *predicate, Node *a, Node *b)
{
	return (equal(predicate->a, a) && equal(predicate->b, b)) ||
		(predicate->distance->symmetric &&
		 equal(predicate->a, b) && equal(predicate->b, a));
}
