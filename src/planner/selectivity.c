/*-------------------------------------------------------------------------
 *
 * selectivity.c
 *		How many rows lie within a distance
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "planner/beside.h"
#include "planner/planner.h"
#include "planner/sample.h"
#include "planner/selectivity.h"

/*
 * The radius, clamped to where it makes a difference: that of an empty ball, if it
 * is NULL.
 */
int
selectivity_radius(PlannerInfo *root, Node *radius, bool *known)
{
	Const	   *constant = NULL;

	if (radius)
		constant = (Const *) estimate_expression_value(root, radius);
	*known = constant && IsA(constant, Const) && constant->consttype == INT8OID;
	if (!*known)
		return UNKNOWN_RADIUS;
	return constant->constisnull ? BALL_EMPTY :
		simhash_clamp_radius(DatumGetInt64(constant->constvalue));
}

/*
 * The distances that count: where the comparison is for equality, only that one.
 */
static DistanceRange
range_of(PlannerInfo *root, const Predicate *predicate, const Beside *beside)
{
	bool		known;
	int			radius = selectivity_radius(root, predicate->radius, &known);
	bool		equality = beside->clause &&
		beside->comparison.strategy == BTEqualStrategyNumber;

	return (DistanceRange) {equality ? radius : 0, radius};
}

/*
 * What an estimate is to be, so that it is right when it has been multiplied with
 * that of the comparison beside.
 */
static Selectivity
given_beside(Selectivity selectivity, Selectivity of_comparison)
{
	return selectivity < of_comparison ? selectivity / of_comparison : 1;
}

/*
 * Centers that are not known: like the values of a column of another table, for
 * each of its rows, or else like those of the same column.
 */
static Selectivity
within_of_unknown(PlannerInfo *root, const Predicate *predicate,
				  VariableStatData *column, Node *center, DistanceRange range)
{
	VariableStatData other = {0};
	Sample		sample;
	Sample		centers;
	Selectivity selectivity;

	if (center)
		examine_variable(root, center, 0, &other);
	sample_column(column, predicate->function, SAMPLE_PAIRED, &sample);
	sample_column(HeapTupleIsValid(other.statsTuple) ? &other : column,
				  predicate->function, SAMPLE_PAIRED, &centers);
	selectivity = sample_pairs(&sample, &centers, range);
	if (centers.nonnull > 0)
		selectivity /= centers.nonnull;
	sample_free(&sample);
	sample_free(&centers);
	ReleaseVariableStats(other);
	return selectivity;
}

/*
 * Centers that are an expression.
 */
static Selectivity
within_of_expression(PlannerInfo *root, const Predicate *predicate,
					 VariableStatData *column, Node *center, DistanceRange range)
{
	Const	   *constant;
	Sample		sample;
	Selectivity selectivity;

	if (center)
		center = estimate_expression_value(root, center);
	if (center == NULL || !IsA(center, Const))
		return within_of_unknown(root, predicate, column, center, range);
	constant = (Const *) center;
	if (constant->constisnull)
		return 0;
	sample_column(column, predicate->function, SAMPLE_ALL, &sample);
	selectivity = sample_within(&sample, DatumGetSimHash(constant->constvalue), range);
	sample_free(&sample);
	return selectivity;
}

/*
 * The share of a table's rows for which a predicate holds.
 */
Selectivity
selectivity_of_restriction(PlannerInfo *root, const Predicate *predicate, int varRelid)
{
	VariableStatData a;
	VariableStatData b = {0};
	Beside		beside;
	DistanceRange range;
	Selectivity selectivity;

	beside_find(root, predicate, &beside);
	if (beside.clause && beside_has_statistics(root, &beside, varRelid))
		return 1;
	range = range_of(root, predicate, &beside);

	examine_variable(root, predicate->a, varRelid, &a);
	if (predicate->b)
		examine_variable(root, predicate->b, varRelid, &b);
	if (a.rel == NULL && b.rel != NULL)
		selectivity = within_of_expression(root, predicate, &b, predicate->a, range);
	else
		selectivity = within_of_expression(root, predicate, &a, predicate->b, range);
	ReleaseVariableStats(a);
	ReleaseVariableStats(b);
	CLAMP_PROBABILITY(selectivity);
	if (beside.clause)
		selectivity = given_beside(selectivity,
								   clause_selectivity(root, (Node *) beside.clause,
													  varRelid, JOIN_INNER, NULL));
	return selectivity;
}

/*
 * The share of outer rows that have a partner.  On which side of the predicate
 * the inner rows are, only the join knows.
 */
static Selectivity
partnered(const VariableStatData *a, const Sample *of_a,
		  const VariableStatData *b, const Sample *of_b,
		  const SpecialJoinInfo *sjinfo, DistanceRange range)
{
	if (b->rel && bms_is_subset(b->rel->relids, sjinfo->syn_righthand))
		return sample_partnered(of_a, of_b, b->rel->rows, range);
	if (a->rel && bms_is_subset(a->rel->relids, sjinfo->syn_righthand))
		return sample_partnered(of_b, of_a, a->rel->rows, range);
	return sample_pairs(of_a, of_b, range);
}

/*
 * The share of pairs for which a predicate holds; for semijoins and antijoins
 * that of the outer rows that have a partner.
 */
Selectivity
selectivity_of_join(PlannerInfo *root, const Predicate *predicate,
					JoinType jointype, SpecialJoinInfo *sjinfo)
{
	VariableStatData a;
	VariableStatData b = {0};
	Sample		of_a;
	Sample		of_b;
	Beside		beside;
	DistanceRange range;
	Selectivity selectivity;

	beside_find(root, predicate, &beside);
	range = range_of(root, predicate, &beside);

	examine_variable(root, predicate->a, 0, &a);
	if (predicate->b)
		examine_variable(root, predicate->b, 0, &b);
	sample_column(&a, predicate->function, SAMPLE_PAIRED, &of_a);
	sample_column(predicate->b ? &b : &a, predicate->function, SAMPLE_PAIRED, &of_b);
	if (jointype == JOIN_SEMI || jointype == JOIN_ANTI)
		selectivity = partnered(&a, &of_a, &b, &of_b, sjinfo, range);
	else
		selectivity = sample_pairs(&of_a, &of_b, range);
	sample_free(&of_a);
	sample_free(&of_b);
	ReleaseVariableStats(a);
	ReleaseVariableStats(b);
	CLAMP_PROBABILITY(selectivity);
	if (beside.clause)
		selectivity = given_beside(selectivity,
								   clause_selectivity(root, (Node *) beside.clause,
													  0, jointype, sjinfo));
	return selectivity;
}

static bool
is_ball_of(Node *ball, const SimHashObjects *objects)
{
	return is_funcclause(ball) && ((FuncExpr *) ball)->funcid == objects->ball;
}

/*
 * The radius of simhash_ball(center, radius); NULL if that is not what a ball is.  The
 * function stands in the extension's schema.
 */
Node *
selectivity_ball_radius(Oid function, Node *ball)
{
	SimHashObjects objects;

	if (!objects_find(function, &objects) || !is_ball_of(ball, &objects))
		return NULL;
	return lsecond(((FuncExpr *) ball)->args);
}

/* A side of <@, @> or =~=: a ball, or a fingerprint, which is one without a radius. */
typedef struct Side
{
	Node	   *center;			/* NULL: not known */
	Node	   *radius;
} Side;

/*
 * Read a side that is a ball.  Returns false if it is NULL.
 */
static bool
read_ball_side(PlannerInfo *root, const SimHashObjects *objects, Node *ball, Side *side)
{
	const SimHashBall *value;

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
		value = DatumGetSimHashBallP(((Const *) ball)->constvalue);
		side->center = (Node *) makeConst(objects->type, -1, InvalidOid, sizeof(SimHash),
										  SimHashGetDatum(value->center), false,
										  FLOAT8PASSBYVAL);
		side->radius = (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
										  Int64GetDatum(value->radius), false,
										  FLOAT8PASSBYVAL);
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
	int			a_radius = selectivity_radius(root, a, &a_known);
	int			b_radius = selectivity_radius(root, b, &b_known);

	if (a_known && b_known)
		return a_radius < b_radius ? a : b;
	return b == NULL || a_known ? a : b;
}

/*
 * Read fp <@ ball, ball @> fp or ball =~= ball as distance(a, b) <= radius.  Returns
 * false if that is not what the operator compares, or a ball is NULL; then
 * *otherwise is what the estimator says.
 *
 * An operator of any types may name these estimators.  The types that count
 * are those that stand beside the estimator itself: where the operator is,
 * anybody may have made others of the same names.
 */
bool
selectivity_read_ball(PlannerInfo *root, Oid estimator, Oid operator, List *args,
					  Predicate *predicate, Selectivity *otherwise)
{
	SimHashObjects objects;
	Side		side[2] = {0};
	int			fingerprint = -1;
	int			first;

	*otherwise = DEFAULT_MATCHING_SEL;
	if (list_length(args) != 2 || !objects_find(estimator, &objects))
		return false;
	for (int i = 0; i < 2; i++)
	{
		Node	   *argument = list_nth(args, i);

		if (exprType(argument) == objects.type && fingerprint < 0)
		{
			side[i].center = argument;
			fingerprint = i;
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
	first = fingerprint >= 0 ? fingerprint : side[1].center == NULL;
	predicate->function = get_opcode(operator);
	predicate->a = side[first].center ? side[first].center : list_nth(args, first);
	predicate->b = side[1 - first].center;
	predicate->radius = smaller_radius(root, side[0].radius, side[1].radius);
	return true;
}

/*
 * Restriction estimator of <@, @> and =~=.
 */
PG_FUNCTION_INFO_V1(simhash_ball_selectivity);
Datum
simhash_ball_selectivity(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Predicate	predicate;
	Selectivity otherwise;

	if (!selectivity_read_ball(root, fcinfo->flinfo->fn_oid, PG_GETARG_OID(1),
							   (List *) PG_GETARG_POINTER(2), &predicate,
							   &otherwise))
		PG_RETURN_FLOAT8(otherwise);
	PG_RETURN_FLOAT8(selectivity_of_restriction(root, &predicate, PG_GETARG_INT32(3)));
}

/*
 * Join estimator of <@, @> and =~=.
 */
PG_FUNCTION_INFO_V1(simhash_ball_join_selectivity);
Datum
simhash_ball_join_selectivity(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	JoinType	jointype = (JoinType) PG_GETARG_INT16(3);
	SpecialJoinInfo *sjinfo = (SpecialJoinInfo *) PG_GETARG_POINTER(4);
	Predicate	predicate;
	Selectivity otherwise;

	if (!selectivity_read_ball(root, fcinfo->flinfo->fn_oid, PG_GETARG_OID(1),
							   (List *) PG_GETARG_POINTER(2), &predicate,
							   &otherwise))
		PG_RETURN_FLOAT8(otherwise);
	PG_RETURN_FLOAT8(selectivity_of_join(root, &predicate, jointype, sjinfo));
}
