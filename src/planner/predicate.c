/*-------------------------------------------------------------------------
 *
 * predicate.c
 *		What an estimate is about: two values, and how far apart they may be
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "planner/predicate.h"
#include "type/simhash_type.h"

/* --- the radius --------------------------------------------------------------- */

/*
 * The radius as a constant of a type; NULL, if it is not known.
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
 * The radius, clamped to where it makes a difference: that of an empty ball, if it
 * is NULL.
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
 * Return the radius of a distance that is a fraction: negative, if it is NULL.
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

static bool
is_ball_of(Node *ball, const SimHashObjects *objects)
{
	return is_funcclause(ball) && ((FuncExpr *) ball)->funcid == objects->ball;
}

/*
 * The radius of simhash_ball(center, radius); NULL if that is not what a ball is.
 */
Node *
predicate_ball_radius(Node *ball)
{
	SimHashObjects objects;

	if (!objects_find(&distance_hamming, &objects) || !is_ball_of(ball, &objects))
		return NULL;
	return lsecond(((FuncExpr *) ball)->args);
}

/* A side of <@, @> or =~=: a ball, or a value, which is one without a radius. */
typedef struct Side
{
	Node	   *center;			/* NULL: not known */
	Node	   *radius;
} Side;

static Node *
make_constant(Oid type, Datum value)
{
	int16		length;
	bool		byval;

	get_typlenbyval(type, &length, &byval);
	return (Node *) makeConst(type, -1, InvalidOid, length, value, false, byval);
}

/*
 * Read a side that is a ball.  Returns false if it is NULL.
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
 * The smaller of two radii, either of which may be missing; or one that is known, or one.
 */
static Node *
smaller_radius(PlannerInfo *root, Node *a, Node *b)
{
	bool		a_known;
	bool		b_known;
	int			a_radius = predicate_radius(root, a, &a_known);
	int			b_radius = predicate_radius(root, b, &b_known);

	if (a_known && b_known)
		return a_radius < b_radius ? a : b;
	return b == NULL || a_known ? a : b;
}

/*
 * Read fp <@ ball, ball @> fp or ball =~= ball as distance(a, b) <= radius.  Returns false
 * if that is not what the operator compares, or a ball is NULL; then *otherwise is what the
 * estimator says.
 *
 * An operator of any types may name these estimators.
 */
bool
predicate_read_ball(PlannerInfo *root, const Distance *distance, Oid operator, List *args,
					Predicate *predicate, Selectivity *otherwise)
{
	SimHashObjects objects;
	Side		side[2] = {0};
	int			value = -1;		/* the side that is no ball */
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

	/* where both are balls, a column of balls is no less known than its centers */
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
		smaller_radius(root, side[0].radius, side[1].radius);
	return true;
}

/*
 * Return the predicate that shares_band computes.
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
