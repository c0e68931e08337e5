/*
 * Selectivity of distance predicates and of shares_band
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "bits.h"
#include "compat.h"
#include "planner/elements.h"
#include "planner/planner_run.h"
#include "planner/redundant_clause.h"
#include "planner/sample.h"
#include "planner/selectivity.h"
#include "planner/self_join.h"
#include "type/minhash_type.h"
#include "type/simhash_type.h"

/*
 * Return the expected distance, in bits, of the nearest of nrows fingerprints, if they are
 * uniformly distributed.
 */
int
selectivity_nearest_radius(double nrows)
{
	double		enough = ldexp(1, SIMHASH_BITS);
	int			radius = 0;

	while (radius < SIMHASH_BITS &&
		   bits_count_patterns(SIMHASH_BITS, 0, radius, HUGE_VAL) * nrows < enough)
		radius++;
	return radius;
}

/*
 * Return the smallest of the known radii, in bits.  These are the predicate's radius and
 * the average radius of each column of balls.  Returns UNKNOWN_RADIUS if none is known.
 */
static int
radius_of_samples(PlannerInfo *root, const Predicate *predicate, const Sample *a,
				  const Sample *b)
{
	bool		known;
	int			radius = predicate_radius(root, predicate->radius, &known);

	if (!known && (a->of_balls || b->of_balls))
		radius = SIMHASH_BITS;
	if (a->of_balls)
		radius = Min(radius, (int) rint(a->radius));
	if (b->of_balls)
		radius = Min(radius, (int) rint(b->radius));
	return radius;
}

/*
 * Return the match predicate for the values of samples a and b, which may be the same.  If
 * the redundant clause tests for equality, only pairs at exactly that distance match.
 */
static MatchPredicate
match_predicate_of(PlannerInfo *root, const Predicate *predicate, const RedundantClause *redundant,
				   const Sample *a, const Sample *b)
{
	MatchPredicate match;

	if (predicate->distance == NULL)
		match_predicate_of_signatures(&match);
	else
	{
		bool		equality = predicate->equality ||
			(redundant->clause &&
			 redundant->comparison.strategy == BTEqualStrategyNumber);
		int			radius = radius_of_samples(root, predicate, a, b);

		match_predicate_of_fingerprints(&match, equality ? radius : 0, radius);
	}
	return match;
}

/*
 * Read a sample of a column for a predicate.  If paired is true, the sample is for a
 * comparison with another sample, else for a comparison with one value.
 */
static void
get_sample(VariableStatData *column, const Predicate *predicate, bool paired,
		   Sample *sample)
{
	int			limit = OidIsValid(predicate->type) ? SAMPLE_PAIRED_LARGE : SAMPLE_PAIRED;
	Oid			type = predicate->type;

	if (OidIsValid(predicate->ball) && column->vartype == predicate->ball)
		type = predicate->ball;
	sample_column(column, predicate->function, type, paired ? limit : SAMPLE_ALL, sample);
}

/* The last sample of a restricted column, and what it was made for. */
typedef struct ColumnSample
{
	RelOptInfo *rel;
	double		tuples;			/* rel->tuples */
	Node	   *column;
	Predicate	predicate;		/* of which type, ball and function are used */
	Sample		sample;
} ColumnSample;

/*
 * Return the sample of a column for comparisons with one value.  Reads the statistics once
 * for all clauses that restrict the column, if the planner estimates them in a row.
 */
static const Sample *
restricted_sample(PlannerInfo *root, VariableStatData *column, const Predicate *predicate)
{
	PlannerRun *run = planner_run_of(root);
	ColumnSample *last = run->last_sample;
	double		tuples = column->rel ? column->rel->tuples : 0;
	MemoryContext old_context;

	if (last && last->rel == column->rel && last->tuples == tuples &&
		last->predicate.type == predicate->type && last->predicate.ball == predicate->ball &&
		last->predicate.function == predicate->function && equal(last->column, column->var))
		return &last->sample;
	old_context = MemoryContextSwitchTo(root->planner_cxt);
	if (last)
		sample_free(&last->sample);
	else
		last = run->last_sample = palloc(sizeof(ColumnSample));
	last->rel = column->rel;
	last->tuples = tuples;
	last->column = copyObject(column->var);
	last->predicate = *predicate;
	get_sample(column, predicate, false, &last->sample);
	MemoryContextSwitchTo(old_context);
	return &last->sample;
}

/*
 * Return `column`, or `other` if only that one was analyzed.  Two columns that are
 * compared usually have similar values.
 */
static VariableStatData *
analyzed_column(VariableStatData *column, VariableStatData *other)
{
	return HeapTupleIsValid(other->statsTuple) && !HeapTupleIsValid(column->statsTuple) ?
		other : column;
}

/*
 * Return a selectivity divided by the selectivity of its redundant clause, at most 1.  The
 * planner multiplies the result with the redundant clause's selectivity, which yields the
 * right estimate.
 */
static Selectivity
divide_by_redundant(Selectivity selectivity, Selectivity of_comparison)
{
	return selectivity < of_comparison ? selectivity / of_comparison : 1;
}

/*
 * Estimate a restriction whose center is not a constant.  If the center is a column of
 * another table, assume that centers are distributed as the values of that column.  The
 * estimate is an average over these values.  Otherwise assume that centers are distributed
 * as the values of the restricted column.
 */
static Selectivity
restriction_by_pairs(PlannerInfo *root, const Predicate *predicate,
					 const RedundantClause *redundant, VariableStatData *column, Node *center)
{
	VariableStatData other = {0};
	Sample		sample;
	Sample		centers;
	MatchPredicate match;
	Selectivity selectivity;

	if (center)
		examine_variable(root, center, 0, &other);
	get_sample(analyzed_column(column, &other), predicate, true, &sample);
	get_sample(analyzed_column(&other, column), predicate, true, &centers);
	match = match_predicate_of(root, predicate, redundant, &sample, &centers);
	selectivity = sample_pairs(&sample, &centers, &match);
	if (centers.nonnull > 0)
		selectivity /= centers.nonnull;
	sample_free(&sample);
	sample_free(&centers);
	ReleaseVariableStats(other);
	return selectivity;
}

/*
 * Estimate a restriction of a column.  `center` is the expression for the center, or NULL
 * if the center is unknown.
 */
static Selectivity
restriction_by_center(PlannerInfo *root, const Predicate *predicate,
					  const RedundantClause *redundant, VariableStatData *column, Node *center)
{
	Const	   *constant;
	Datum		value;
	const Sample *sample;
	MatchPredicate match;

	if (center)
		center = estimate_expression_value(root, center);
	if (center == NULL || !IsA(center, Const))
		return restriction_by_pairs(root, predicate, redundant, column, center);
	constant = (Const *) center;
	if (constant->constisnull)
		return 0;
	sample = restricted_sample(root, column, predicate);
	value = constant->constvalue;
	if (OidIsValid(predicate->type))
		value = PointerGetDatum(minhash_detoast(value));
	match = match_predicate_of(root, predicate, redundant, sample, sample);
	return sample_near(sample, value, &match);
}

/*
 * Estimate a restriction from a sample of the restricted column, which may be on either
 * side of the predicate.
 */
static Selectivity
restriction_by_samples(PlannerInfo *root, const Predicate *predicate,
					   const RedundantClause *redundant, int varRelid)
{
	VariableStatData a;
	VariableStatData b = {0};
	Selectivity selectivity;

	examine_variable(root, predicate->a, varRelid, &a);
	if (predicate->b)
		examine_variable(root, predicate->b, varRelid, &b);
	if (a.rel == NULL && b.rel != NULL)
		selectivity = restriction_by_center(root, predicate, redundant, &b, predicate->a);
	else
		selectivity = restriction_by_center(root, predicate, redundant, &a, predicate->b);
	ReleaseVariableStats(a);
	ReleaseVariableStats(b);
	return selectivity;
}

/*
 * Return the fraction of a table's rows for which a predicate holds.  If the predicate has
 * a redundant clause, the planner multiplies the result with the estimate of that clause.
 */
Selectivity
selectivity_of_restriction(PlannerInfo *root, const Predicate *predicate, int varRelid)
{
	RedundantClause redundant;
	Selectivity selectivity;

	redundant_clause_find(root, predicate, &redundant);
	if (redundant.clause && redundant_clause_has_statistics(root, &redundant, varRelid))
		return 1;
	if (predicate->distance && predicate->distance->of_arrays)
		selectivity = elements_selectivity(root, predicate);
	else
		selectivity = restriction_by_samples(root, predicate, &redundant, varRelid);
	CLAMP_PROBABILITY(selectivity);
	if (redundant.clause)
		selectivity = divide_by_redundant(selectivity,
										  clause_selectivity(root, (Node *) redundant.clause,
															 varRelid, JOIN_INNER, NULL));
	return selectivity;
}

/*
 * Return the fraction of outer rows that have a match.  sjinfo tells on which side of the
 * predicate the inner rows are.  If self-pairs are excluded, values of a row do not match by
 * being in both tables, so return at most the number of pairs per outer row.
 */
static Selectivity
semijoin_by_samples(const VariableStatData *a, const Sample *of_a,
					const VariableStatData *b, const Sample *of_b,
					const SpecialJoinInfo *sjinfo, const MatchPredicate *match,
					double max_equal)
{
	double		pairs = sample_pairs(of_a, of_b, match);
	double		inner_rows;
	Selectivity selectivity;

	if (b->rel && bms_is_subset(b->rel->relids, sjinfo->syn_righthand))
	{
		inner_rows = b->rel->rows;
		selectivity = sample_semijoin(of_a, of_b, inner_rows, match, max_equal);
	}
	else if (a->rel && bms_is_subset(a->rel->relids, sjinfo->syn_righthand))
	{
		inner_rows = a->rel->rows;
		selectivity = sample_semijoin(of_b, of_a, inner_rows, match, max_equal);
	}
	else
		return pairs;
	return match->self_pairs > 0 ? Min(selectivity, pairs * inner_rows) : selectivity;
}

/*
 * Estimate a join from samples of both columns.
 */
static Selectivity
join_by_samples(PlannerInfo *root, const Predicate *predicate, const RedundantClause *redundant,
				JoinType jointype, SpecialJoinInfo *sjinfo)
{
	SelfJoin	self = self_join_read(root, predicate);
	VariableStatData a;
	VariableStatData b = {0};
	Sample		of_a;
	Sample		of_b;
	MatchPredicate match;
	Selectivity selectivity;

	examine_variable(root, predicate->a, 0, &a);
	if (predicate->b)
		examine_variable(root, predicate->b, 0, &b);
	get_sample(analyzed_column(&a, &b), predicate, true, &of_a);
	get_sample(analyzed_column(&b, &a), predicate, true, &of_b);
	match = match_predicate_of(root, predicate, redundant, &of_a, &of_b);
	match.self_pairs = self.excluded;
	if (jointype == JOIN_SEMI || jointype == JOIN_ANTI)
		selectivity = semijoin_by_samples(&a, &of_a, &b, &of_b, sjinfo, &match,
										  self_join_max_equal(&self));
	else
		selectivity = sample_pairs(&of_a, &of_b, &match);
	sample_free(&of_a);
	sample_free(&of_b);
	ReleaseVariableStats(a);
	ReleaseVariableStats(b);
	return selectivity;
}

/*
 * Return the fraction of pairs for which a predicate holds.  For semijoins and antijoins,
 * return the fraction of outer rows that have a match.  If the predicate has a redundant
 * clause, the planner multiplies the result with the estimate of that clause.
 */
Selectivity
selectivity_of_join(PlannerInfo *root, const Predicate *predicate,
					JoinType jointype, SpecialJoinInfo *sjinfo)
{
	RedundantClause redundant;
	Selectivity selectivity;

	redundant_clause_find(root, predicate, &redundant);
	if (predicate->distance && predicate->distance->of_arrays)
		selectivity = elements_join_selectivity(root, predicate, jointype, sjinfo);
	else
		selectivity = join_by_samples(root, predicate, &redundant, jointype, sjinfo);
	CLAMP_PROBABILITY(selectivity);
	if (redundant.clause)
		selectivity = divide_by_redundant(selectivity,
										  clause_selectivity(root, (Node *) redundant.clause,
															 0, jointype, sjinfo));
	return selectivity;
}

/*
 * Read the operator and the arguments from the arguments of an estimator.  The operator is
 * sig % sig, or one that predicate_read_ball() can read.  Returns false if there is no
 * predicate.  Then sets *otherwise to the selectivity that the estimator should return.
 */
static bool
read_operator(FunctionCallInfo fcinfo, Predicate *predicate, Selectivity *otherwise)
{
	Oid			operator = PG_GETARG_OID(1);
	List	   *args = (List *) PG_GETARG_POINTER(2);
	const Distance *distance = NULL;

	*otherwise = DEFAULT_MATCHING_SEL;
	if (list_length(args) != 2)
		return false;
	if (objects_is_shares_band(get_opcode(operator)))
	{
		*predicate = predicate_of_band(get_opcode(operator), args);
		return true;
	}
	for (int i = 0; i < 2 && distance == NULL; i++)
		distance = objects_distance_of_ball(exprType(list_nth(args, i)), get_opcode(operator));
	return distance &&
		predicate_read_ball((PlannerInfo *) PG_GETARG_POINTER(0), distance, operator, args,
							predicate, otherwise);
}

/*
 * Restriction estimator of %, and of the operators on balls
 */
PG_FUNCTION_INFO_V1(simhash_selectivity);
Datum
simhash_selectivity(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Predicate	predicate;
	Selectivity result;

	if (read_operator(fcinfo, &predicate, &result))
		result = selectivity_of_restriction(root, &predicate, PG_GETARG_INT32(3));
	PG_RETURN_FLOAT8(result);
}

/*
 * Join estimator of %, and of the operators on balls
 */
PG_FUNCTION_INFO_V1(simhash_join_selectivity);
Datum
simhash_join_selectivity(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	JoinType	jointype = (JoinType) PG_GETARG_INT16(3);
	SpecialJoinInfo *sjinfo = (SpecialJoinInfo *) PG_GETARG_POINTER(4);
	Predicate	predicate;
	Selectivity result;

	if (read_operator(fcinfo, &predicate, &result))
		result = selectivity_of_join(root, &predicate, jointype, sjinfo);
	PG_RETURN_FLOAT8(result);
}
