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

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "planner/planner.h"
#include "planner/sample.h"
#include "planner/selectivity.h"

/* The radius assumed where it is not known while planning. */
#define DEFAULT_RADIUS			3

/*
 * The radius, clamped to where it makes a difference.  Returns false if it is
 * NULL.
 */
static bool
estimate_radius(PlannerInfo *root, Node *node, int *radius)
{
	Const	   *constant;

	*radius = DEFAULT_RADIUS;
	if (node == NULL)
		return true;
	constant = (Const *) estimate_expression_value(root, node);
	if (!IsA(constant, Const) || constant->consttype != INT8OID)
		return true;
	if (constant->constisnull)
		return false;
	*radius = Max(BALL_EMPTY, Min(SIMHASH_BITS, DatumGetInt64(constant->constvalue)));
	return true;
}

/*
 * Centers that are an expression: of one value that is known, or like the
 * values of a column.
 */
static Selectivity
within_of_expression(PlannerInfo *root, const Predicate *predicate,
					 VariableStatData *column, Node *center, int radius)
{
	Sample	   *sample = palloc(sizeof(Sample));
	Selectivity selectivity;
	VariableStatData other;

	sample_column(column, predicate->function, sample);
	center = center ? estimate_expression_value(root, center) : NULL;
	if (center == NULL)
		selectivity = sample_within_any(sample, sample, radius);
	else if (IsA(center, Const))
	{
		Const	   *constant = (Const *) center;

		selectivity = constant->constisnull ? 0 :
			sample_within(sample, DatumGetSimHash(constant->constvalue), radius);
	}
	else
	{
		/* a column of another table, for each of its rows */
		examine_variable(root, center, 0, &other);
		if (HeapTupleIsValid(other.statsTuple))
		{
			Sample	   *centers = palloc(sizeof(Sample));

			sample_column(&other, predicate->function, centers);
			selectivity = sample_within_any(sample, centers, radius);
			pfree(centers);
		}
		else
			selectivity = sample_within_any(sample, sample, radius);
		ReleaseVariableStats(other);
	}
	pfree(sample);
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
	Selectivity selectivity;
	int			radius;

	if (!estimate_radius(root, predicate->radius, &radius))
		return 0;
	examine_variable(root, predicate->a, varRelid, &a);
	if (predicate->b)
		examine_variable(root, predicate->b, varRelid, &b);
	if (a.rel == NULL && b.rel != NULL)
		selectivity = within_of_expression(root, predicate, &b, predicate->a, radius);
	else
		selectivity = within_of_expression(root, predicate, &a, predicate->b, radius);
	ReleaseVariableStats(a);
	ReleaseVariableStats(b);
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/*
 * The rows of the inner side of a semijoin, of which one has to match.
 */
static double
inner_rows(const VariableStatData *a, const VariableStatData *b,
		   const SpecialJoinInfo *sjinfo)
{
	if (b->rel && bms_is_subset(b->rel->relids, sjinfo->syn_righthand))
		return Max(b->rel->rows, 1);
	if (a->rel && bms_is_subset(a->rel->relids, sjinfo->syn_righthand))
		return Max(a->rel->rows, 1);
	return 1;
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
	Sample	   *samples = palloc(2 * sizeof(Sample));
	Selectivity selectivity;
	int			radius;

	if (!estimate_radius(root, predicate->radius, &radius))
		return 0;
	examine_variable(root, predicate->a, 0, &a);
	sample_column(&a, predicate->function, &samples[0]);
	if (predicate->b)
	{
		examine_variable(root, predicate->b, 0, &b);
		sample_column(&b, predicate->function, &samples[1]);
		selectivity = sample_within_any(&samples[0], &samples[1], radius) *
			samples[1].nonnull;
	}
	else
		selectivity = sample_within_any(&samples[0], &samples[0], radius);
	if (jointype == JOIN_SEMI || jointype == JOIN_ANTI)
		selectivity *= inner_rows(&a, &b, sjinfo);

	ReleaseVariableStats(a);
	ReleaseVariableStats(b);
	pfree(samples);
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/*
 * Read fp <@ ball, or ball @> fp, as distance(fp, center) <= radius.  Returns
 * false if that is not what the operator compares, or the ball is NULL; then
 * *otherwise is what the estimator says.
 *
 * An operator of any types may name these estimators.  The types that count
 * are those that stand beside the estimator itself: where the operator is,
 * anybody may have made others of the same names.
 */
static bool
read_ball(PlannerInfo *root, Oid estimator, Oid operator, List *args,
		  Predicate *predicate, Selectivity *otherwise)
{
	SimHashObjects objects;
	Node	   *ball;

	*otherwise = DEFAULT_MATCHING_SEL;
	if (list_length(args) != 2 || !objects_find(estimator, &objects))
		return false;
	predicate->function = get_opcode(operator);
	predicate->a = linitial(args);
	predicate->b = predicate->radius = NULL;
	ball = lsecond(args);
	if (exprType(predicate->a) == objects.ball_type)
	{
		predicate->a = ball;
		ball = linitial(args);
	}
	if (exprType(predicate->a) != objects.type || exprType(ball) != objects.ball_type)
		return false;

	if (!(is_funcclause(ball) && ((FuncExpr *) ball)->funcid == objects.ball))
		ball = estimate_expression_value(root, ball);
	if (IsA(ball, Const))
	{
		Const	   *constant = (Const *) ball;
		SimHashBall *value;

		if (constant->constisnull)
		{
			*otherwise = 0;
			return false;
		}
		value = DatumGetSimHashBallP(constant->constvalue);
		predicate->b = (Node *) makeConst(objects.type, -1, InvalidOid, sizeof(SimHash),
										  SimHashGetDatum(value->center), false, true);
		predicate->radius = (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
											   Int64GetDatum(value->radius), false, true);
	}
	else if (is_funcclause(ball) && ((FuncExpr *) ball)->funcid == objects.ball)
	{
		predicate->b = linitial(((FuncExpr *) ball)->args);
		predicate->radius = lsecond(((FuncExpr *) ball)->args);
	}
	return true;
}

/*
 * Restriction estimator of <@ and @>.
 */
PG_FUNCTION_INFO_V1(simhash_ball_selectivity);
Datum
simhash_ball_selectivity(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Predicate	predicate;
	Selectivity otherwise;

	if (!read_ball(root, fcinfo->flinfo->fn_oid, PG_GETARG_OID(1),
				   (List *) PG_GETARG_POINTER(2), &predicate, &otherwise))
		PG_RETURN_FLOAT8(otherwise);
	PG_RETURN_FLOAT8(selectivity_of_restriction(root, &predicate, PG_GETARG_INT32(3)));
}

/*
 * Join estimator of <@ and @>.
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

	if (!read_ball(root, fcinfo->flinfo->fn_oid, PG_GETARG_OID(1),
				   (List *) PG_GETARG_POINTER(2), &predicate, &otherwise))
		PG_RETURN_FLOAT8(otherwise);
	PG_RETURN_FLOAT8(selectivity_of_join(root, &predicate, jointype, sjinfo));
}
