/*
 * Selectivity of conditions on distances
 *
 * The fraction of rows within a radius is that of the values that ANALYZE kept (sample.c).
 * Values equal to the center are estimated as equality is, and no estimate is below the
 * fraction for unrelated fingerprints, a binomial tail.
 *
 * Statistics are used only under the conditions of PostgreSQL's own estimators.
 *
 * The center of a condition says which values are compared:
 *
 *	- constant: all values that ANALYZE kept, with the center
 *	- column of another table, also in joins: pairs of some values of each column
 *	- parameter: pairs of some values of the column itself, from which it is assumed to
 *	  be drawn
 *
 * Signatures that share a band are estimated likewise.  A column that was not analyzed is
 * assumed to be like the other column of the join, as a table of queries that was just
 * filled.  If neither was analyzed, values are assumed to be uniform, and those of a large
 * table to be distinct.  A column of balls is a sample of their centers, with their average
 * radius or that of the query, the smaller one.
 *
 * Joins.  For a semijoin or antijoin, the estimate is the fraction of outer values with a
 * match.  In a self-join, a row is near itself.  If another clause excludes these pairs, as
 * a.id < b.id does, they are subtracted (self_join.c).  Of two tables, at most half of the
 * outer rows are assumed to have an equal row (self_join_max_equal).  Then a batch against a
 * corpus is never estimated at 1 row.
 *
 * Unknown radius.  If the radius is not known before execution, UNKNOWN_RADIUS is assumed,
 * or UNKNOWN_FRACTION_RADIUS, for rows and for cost.  The plan must also suit other radii.
 * So the cost (index/am/cost.c) is that of more rows, which favours a bitmap.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

#include "bits.h"
#include "compat.h"
#include "planner/planner.h"
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
 * Return the smallest of the known radii, in bits.  These are the condition's radius and
 * the average radius of each column of balls.  Returns UNKNOWN_RADIUS if none is known.
 */
static int
radius_of_samples(PlannerInfo *root, const Condition *condition, const Sample *a,
				  const Sample *b)
{
	bool		known;
	int			radius = condition_radius(root, condition->distance, condition->radius, &known);

	if (!known && (a->of_balls || b->of_balls))
		radius = SIMHASH_BITS;
	if (a->of_balls)
		radius = Min(radius, (int) rint(a->radius));
	if (b->of_balls)
		radius = Min(radius, (int) rint(b->radius));
	return radius;
}

/*
 * Return the test for the values of samples a and b, which may be the same.  An unknown lower
 * bound is assumed to be that of an equality.
 */
static SampleTest
sample_test_of(PlannerInfo *root, const Condition *condition, const Sample *a, const Sample *b)
{
	int			high;
	int			low = 0;
	bool		known = true;

	if (condition->distance == NULL)
		return (SampleTest) {.of_signatures = true,.of_equal = true};
	high = radius_of_samples(root, condition, a, b);
	if (condition->above)
		low = condition_radius(root, condition->distance, condition->above, &known) + 1;
	if (!known)
		low = Min(low, high);
	return (SampleTest) {
		.of_equal = low <= 0 && high >= 0,
		.min_fraction = ldexp(bits_count_patterns(SIMHASH_BITS, low, high, HUGE_VAL),
							  -SIMHASH_BITS),
		.low = low,
		.high = high
	};
}

/*
 * Read a sample of a column for a condition.  If paired is true, the sample is for a
 * comparison with another sample, else for a comparison with one value.
 */
static void
get_sample(VariableStatData *column, const Condition *condition, bool paired,
		   Sample *sample)
{
	int			limit = OidIsValid(condition->type) ? SAMPLE_PAIRED_LARGE : SAMPLE_PAIRED;
	Oid			type = condition->type;

	if (OidIsValid(condition->ball) && column->vartype == condition->ball)
		type = condition->ball;
	sample_column(column, condition->function, type, paired ? limit : SAMPLE_ALL, sample);
}

/* --- state of a planner run ------------------------------------------------------ */

static PlannerRun *newest = NULL;

/*
 * Forget a PlannerRun.  Called when its planner_cxt is reset.
 */
static void
forget_run(void *argument)
{
	if (newest == argument)
		newest = NULL;
}

/*
 * Return the state of the planner run of a PlannerInfo.  Creates it, unless it is the newest.
 * Up to 18 a PlannerInfo has no field for a module.  So the state is found by the PlannerInfo,
 * and freed with planner_cxt.  Only the newest is kept, since it is a cache: core seldom returns
 * to an earlier one, as when planning calls a function that plans another query.
 */
PlannerRun *
planner_run_of(PlannerInfo *root)
{
	PlannerRun *run = newest;

	if (run && run->root == root)
		return run;
	run = MemoryContextAllocZero(root->planner_cxt, sizeof(PlannerRun));
	run->root = root;
	run->forget.func = forget_run;
	run->forget.arg = run;
	MemoryContextRegisterResetCallback(root->planner_cxt, &run->forget);
	newest = run;
	return run;
}

/* --- restrictions ---------------------------------------------------------------- */

/*
 * Return the sample of a column for comparisons with one value.  Reads the statistics once
 * for all clauses that restrict the column, if the planner estimates them in a row.
 */
static const Sample *
restricted_sample(PlannerInfo *root, VariableStatData *column, const Condition *condition)
{
	PlannerRun *run = planner_run_of(root);
	double		tuples = column->rel ? column->rel->tuples : 0;

	if (run->rel != column->rel || run->tuples != tuples ||
		run->condition.type != condition->type || run->condition.ball != condition->ball ||
		run->condition.function != condition->function || !equal(run->column, column->var))
	{
		MemoryContext old_context = MemoryContextSwitchTo(root->planner_cxt);

		sample_free(&run->sample);
		run->rel = column->rel;
		run->tuples = tuples;
		run->column = copyObject(column->var);
		run->condition = *condition;
		get_sample(column, condition, false, &run->sample);
		MemoryContextSwitchTo(old_context);
	}
	return &run->sample;
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
 * Estimate a restriction whose center is not a constant.  If the center is a column of
 * another table, assume that centers are distributed as the values of that column.  The
 * estimate is an average over these values.  Otherwise assume that centers are distributed
 * as the values of the restricted column.
 */
static Selectivity
restriction_by_pairs(PlannerInfo *root, const Condition *condition, VariableStatData *column,
					 Node *center)
{
	VariableStatData other = {0};
	Sample		sample;
	Sample		centers;
	SampleTest	test;
	Selectivity selectivity;

	if (center)
		examine_variable(root, center, 0, &other);
	get_sample(analyzed_column(column, &other), condition, true, &sample);
	get_sample(analyzed_column(&other, column), condition, true, &centers);
	test = sample_test_of(root, condition, &sample, &centers);
	selectivity = sample_pairs(&sample, &centers, &test);
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
restriction_by_center(PlannerInfo *root, const Condition *condition, VariableStatData *column,
					  Node *center)
{
	Const	   *constant;
	Datum		value;
	const Sample *sample;
	SampleTest	test;

	if (center)
		center = estimate_expression_value(root, center);
	if (center == NULL || !IsA(center, Const))
		return restriction_by_pairs(root, condition, column, center);
	constant = (Const *) center;
	if (constant->constisnull)
		return 0;
	sample = restricted_sample(root, column, condition);
	value = constant->constvalue;
	if (OidIsValid(condition->type))
		value = PointerGetDatum(minhash_detoast(value));
	test = sample_test_of(root, condition, sample, sample);
	return sample_near(sample, value, &test);
}

/*
 * Estimate a restriction from a sample of the restricted column, which may be on either
 * side of the condition.
 */
static Selectivity
restriction_by_samples(PlannerInfo *root, const Condition *condition, int varRelid)
{
	VariableStatData a;
	VariableStatData b = {0};
	Selectivity selectivity;

	examine_variable(root, condition->a, varRelid, &a);
	if (condition->b)
		examine_variable(root, condition->b, varRelid, &b);
	if (a.rel == NULL && b.rel != NULL)
		selectivity = restriction_by_center(root, condition, &b, condition->a);
	else
		selectivity = restriction_by_center(root, condition, &a, condition->b);
	ReleaseVariableStats(a);
	ReleaseVariableStats(b);
	return selectivity;
}

/*
 * Return the fraction of a table's rows for which a condition holds.
 */
Selectivity
selectivity_of_restriction(PlannerInfo *root, const Condition *condition, int varRelid)
{
	Selectivity selectivity;

	if (condition->distance && condition->distance->of_arrays)
		selectivity = array_estimate(root, condition, false, JOIN_INNER, NULL);
	else
		selectivity = restriction_by_samples(root, condition, varRelid);
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/* --- joins ----------------------------------------------------------------------- */

/*
 * Return the fraction of outer rows that have a match.  sjinfo tells on which side of the
 * condition the inner rows are.  If another clause excludes the pairs of a row and itself,
 * return at most the number of pairs per outer row.  If neither side has the inner rows, return
 * the fraction of pairs.
 */
static Selectivity
semijoin_by_samples(const VariableStatData *a, const Sample *of_a,
					const VariableStatData *b, const Sample *of_b,
					const SpecialJoinInfo *sjinfo, const SampleTest *test,
					double max_equal)
{
	double		pairs = sample_pairs(of_a, of_b, test);
	double		inner_b = sample_inner_rows(b, sjinfo);
	double		inner_rows = inner_b > 0 ? inner_b : sample_inner_rows(a, sjinfo);
	Selectivity selectivity;

	if (inner_rows == 0)
		return pairs;
	selectivity = sample_semijoin(inner_b > 0 ? of_a : of_b, inner_b > 0 ? of_b : of_a,
								  inner_rows, test, max_equal);
	return test->self_pairs > 0 ? Min(selectivity, pairs * inner_rows) : selectivity;
}

/*
 * Estimate a join from samples of both columns.
 */
static Selectivity
join_by_samples(PlannerInfo *root, const Condition *condition, JoinType jointype,
				SpecialJoinInfo *sjinfo)
{
	SelfJoin	self = self_join_read(root, condition);
	VariableStatData a;
	VariableStatData b = {0};
	Sample		of_a;
	Sample		of_b;
	SampleTest	test;
	Selectivity selectivity;

	examine_variable(root, condition->a, 0, &a);
	if (condition->b)
		examine_variable(root, condition->b, 0, &b);
	get_sample(analyzed_column(&a, &b), condition, true, &of_a);
	get_sample(analyzed_column(&b, &a), condition, true, &of_b);
	test = sample_test_of(root, condition, &of_a, &of_b);
	test.self_pairs = self.excluded;
	if (jointype == JOIN_SEMI || jointype == JOIN_ANTI)
		selectivity = semijoin_by_samples(&a, &of_a, &b, &of_b, sjinfo, &test,
										  self_join_max_equal(&self));
	else
		selectivity = sample_pairs(&of_a, &of_b, &test);
	sample_free(&of_a);
	sample_free(&of_b);
	ReleaseVariableStats(a);
	ReleaseVariableStats(b);
	return selectivity;
}

/*
 * Return the fraction of pairs for which a condition holds.  For semijoins and antijoins,
 * return the fraction of outer rows that have a match.
 */
Selectivity
selectivity_of_join(PlannerInfo *root, const Condition *condition,
					JoinType jointype, SpecialJoinInfo *sjinfo)
{
	Selectivity selectivity;

	if (condition->distance && condition->distance->of_arrays)
		selectivity = array_estimate(root, condition, true, jointype, sjinfo);
	else
		selectivity = join_by_samples(root, condition, jointype, sjinfo);
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/*
 * Restriction estimator of %, and of the operators on balls
 */
PG_FUNCTION_INFO_V1(simhash_selectivity);
Datum
simhash_selectivity(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Condition	condition;
	Selectivity result;

	if (condition_read_operator(root, PG_GETARG_OID(1), (List *) PG_GETARG_POINTER(2), &condition,
								&result))
		result = selectivity_of_restriction(root, &condition, PG_GETARG_INT32(3));
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
	Condition	condition;
	Selectivity result;

	if (condition_read_operator(root, PG_GETARG_OID(1), (List *) PG_GETARG_POINTER(2), &condition,
								&result))
		result = selectivity_of_join(root, &condition, jointype, sjinfo);
	PG_RETURN_FLOAT8(result);
}
