/*
 * Samples of columns, and the fraction of rows that match
 *
 * ANALYZE keeps the most common values of a column and a histogram of the other values.
 * The bounds of the histogram are values of the column, evenly spread in sort order.  Sort
 * order says little about distances, so the bounds serve as a random sample.
 *
 * A sample of 100 values cannot show matches that are rarer than 1 in 100.  It also finds
 * each of its own values at distance 0.  So the number of equal values is estimated as for
 * the operator =, from the number of distinct values.  No estimate is below the fraction
 * of matches among unrelated values.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "planner/planner.h"
#include "type/minhash_type.h"
#include "type/simhash_type.h"

/*
 * Minimum number of distinct values to assume for a column that was never analyzed.  If the
 * table has more rows, assume that all of them are distinct.
 */
#define DEFAULT_NDISTINCT		10000

/* --- making a sample -------------------------------------------------------- */

/*
 * Return true if a type is the expected one, which is a type of signatures, arrays or
 * balls.  If expected is InvalidOid, return true if the type has 64 bits.  Such a type may
 * be that of fingerprints, or of values that are cast to fingerprints.
 */
static bool
is_of_type(Oid type, Oid expected)
{
	if (OidIsValid(expected))
		return getBaseType(type) == expected;
	return get_typlen(type) == sizeof(uint64) && get_typbyval(type) == FLOAT8PASSBYVAL;
}

/*
 * Read a slot of a column's statistics.  Returns false if there is no such slot, or if its
 * values have another type.  Then there is nothing to free.
 */
static bool
get_values(VariableStatData *column, Oid type, int kind, int flags, AttStatsSlot *slot)
{
	if (!get_attstatsslot(slot, column->statsTuple, kind, InvalidOid, flags))
		return false;
	if (is_of_type(slot->valuetype, type))
		return true;
	free_attstatsslot(slot);
	memset(slot, 0, sizeof(AttStatsSlot));
	return false;
}

/*
 * Return a palloc'd copy of a value from the statistics.  If the values are balls, return
 * the center of the ball.
 */
static Datum
copy_value(const Sample *sample, Datum value)
{
	if (sample->of_balls)
		return SimHashGetDatum(DatumGetSimHashBallP(value)->center);
	if (sample->type == INT8ARRAYOID)
		return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	if (OidIsValid(sample->type))
		return PointerGetDatum(minhash_check((Minhash *) PG_DETOAST_DATUM_COPY(value)));
	return SimHashGetDatum(DatumGetSimHash(value));
}

/*
 * Add a value to a sample.  It represents a fraction of the rows.
 */
static void
add_value(Sample *sample, Datum value, double fraction)
{
	if (sample->of_balls)
		sample->radius += fraction * DatumGetSimHashBallP(value)->radius;
	sample->value[sample->nvalues] = copy_value(sample, value);
	sample->fraction[sample->nvalues] = fraction;
	sample->nvalues++;
}

/*
 * Read at most limit common values and at most limit histogram bounds of a column.
 * Further common values count as part of the rest.
 */
static void
read_values(VariableStatData *column, int limit, Sample *sample)
{
	AttStatsSlot common = {0};
	AttStatsSlot other = {0};
	int			nother = 0;

	if (get_values(column, sample->type, STATISTIC_KIND_MCV,
				   ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS, &common))
		sample->ncommon = Min(Min(common.nvalues, common.nnumbers), limit);
	if (get_values(column, sample->type, STATISTIC_KIND_HISTOGRAM, ATTSTATSSLOT_VALUES,
				   &other))
		nother = Min(other.nvalues, limit);

	sample->value = palloc((sample->ncommon + nother + 1) * sizeof(Datum));
	sample->fraction = palloc((sample->ncommon + nother + 1) * sizeof(double));
	for (int i = 0; i < sample->ncommon; i++)
	{
		add_value(sample, common.values[i], common.numbers[i]);
		sample->rest -= common.numbers[i];
	}
	sample->rest = Max(sample->rest, 0);
	for (int i = 0; i < nother; i++)
		add_value(sample, other.values[(int64) i * other.nvalues / nother],
				  sample->rest / nother);
	if (sample->of_balls && sample->nvalues > 0)
		sample->radius /= nother > 0 ? sample->nonnull : sample->nonnull - sample->rest;
	free_attstatsslot(&common);
	free_attstatsslot(&other);
}

/*
 * Return the estimated number of distinct values of a column.
 */
double
sample_ndistinct(VariableStatData *column)
{
	bool		is_default;
	double		ndistinct = get_variable_numdistinct(column, &is_default);

	if (is_default)
		ndistinct = Max(column->rel ? column->rel->tuples : 0, DEFAULT_NDISTINCT);
	return ndistinct;
}

/*
 * Return the number of rows of a column's relation if it is on the inner side of a semijoin or
 * antijoin, else 0.
 */
double
sample_inner_rows(const VariableStatData *column, const SpecialJoinInfo *sjinfo)
{
	return column->rel && bms_is_subset(column->rel->relids, sjinfo->syn_righthand) ?
		column->rel->rows : 0;
}

/*
 * Read a sample from the statistics of a column, if `function`, which compares its values,
 * may see them.  Otherwise the sample has no values.  `type` is as in Sample.  Free the
 * sample with sample_free().
 */
void
sample_column(VariableStatData *column, Oid function, Oid type, int limit, Sample *sample)
{
	memset(sample, 0, sizeof(Sample));
	sample->type = type;
	sample->of_balls = OidIsValid(type) && get_typlen(type) == sizeof(SimHashBall);
	sample->nonnull = 1;
	if (HeapTupleIsValid(column->statsTuple))
		sample->nonnull -=
			((Form_pg_statistic) GETSTRUCT(column->statsTuple))->stanullfrac;
	sample->rest = sample->nonnull;
	if (HeapTupleIsValid(column->statsTuple) &&
		statistic_proc_security_check(column, function))
		read_values(column, limit, sample);

	/* without values, the radius of balls is unknown */
	sample->of_balls &= sample->nvalues > 0;

	sample->ndistinct = Max(sample_ndistinct(column) - sample->ncommon, 1);
}

/*
 * Free the values of a sample.
 */
void
sample_free(Sample *sample)
{
	bool		byval = FLOAT8PASSBYVAL && (sample->of_balls || !OidIsValid(sample->type));

	for (int i = 0; i < sample->nvalues && !byval; i++)
		pfree(DatumGetPointer(sample->value[i]));
	if (sample->value)
		pfree(sample->value);
	if (sample->fraction)
		pfree(sample->fraction);
}

/* --- testing pairs of values -------------------------------------------------- */

/* How two values are related. */
typedef enum Relationship
{
	VALUES_EQUAL,
	VALUES_NEAR,				/* not equal, and the test holds */
	VALUES_APART				/* not equal, and the test does not hold */
} Relationship;

/*
 * Return how two signatures are related.  Signatures with different parameters are
 * VALUES_APART.  An estimate raises no error for them, but the query does when it compares
 * them.
 */
static Relationship
relate_signatures(const Minhash *sig, const Minhash *other)
{
	if (!minhash_same_params(sig->params, other->params) ||
		!minima_share_band(sig->minima, other->minima, sig->params.bands, sig->params.rows))
		return VALUES_APART;
	return minima_count_equal(sig->minima, other->minima, minhash_length(sig)) ==
		minhash_length(sig) ? VALUES_EQUAL : VALUES_NEAR;
}

/*
 * Return how two values are related.
 */
static Relationship
relate(Datum a, Datum b, const SampleTest *test)
{
	int			distance;

	if (test->of_signatures)
		return relate_signatures((const Minhash *) DatumGetPointer(a),
								 (const Minhash *) DatumGetPointer(b));
	distance = simhash_distance(DatumGetSimHash(a), DatumGetSimHash(b));
	if (distance == 0)
		return VALUES_EQUAL;
	return distance >= test->low && distance <= test->high ? VALUES_NEAR : VALUES_APART;
}

/* --- estimating with a sample ------------------------------------------------ */

/*
 * Return a fraction, at least that of unrelated values, and at most nonnull, which is the
 * fraction of rows, or of pairs, without NULL.
 */
static double
bounded(double fraction, double nonnull, const SampleTest *test)
{
	return Min(Max(fraction, nonnull * test->min_fraction), nonnull);
}

/*
 * Return the fraction of rows that match a value, as found in the sample.  Sets *is_common
 * to true if the value is one of the common values.  Rows equal to the value are included
 * only if the value is common and equal values match.
 */
static double
fraction_near(const Sample *sample, Datum value, const SampleTest *test, bool *is_common)
{
	double		fraction = 0;

	*is_common = false;
	for (int i = 0; i < sample->nvalues; i++)
	{
		Relationship relationship = relate(value, sample->value[i], test);

		if (relationship == VALUES_EQUAL && i < sample->ncommon)
		{
			*is_common = true;
			relationship = test->of_equal ? VALUES_NEAR : VALUES_APART;
		}
		if (relationship == VALUES_NEAR)
			fraction += sample->fraction[i];
	}
	return fraction;
}

/*
 * Return the fraction of rows that match a known value.
 */
double
sample_near(const Sample *sample, Datum value, const SampleTest *test)
{
	bool		is_common;
	double		fraction = fraction_near(sample, value, test, &is_common);

	if (!is_common && test->of_equal)
		fraction += sample->rest / sample->ndistinct;
	return bounded(fraction, sample->nonnull, test);
}

/*
 * Return the fraction of pairs that match, over all pairs of a row of a and a row of b.  Values
 * that are common in both samples are compared.  Assumes that of the others all values of the
 * column with fewer ones occur in the other column, as eqjoinsel() does, but that two common
 * values are not equal.  The result does not depend on the order of the samples.
 */
double
sample_pairs(const Sample *a, const Sample *b, const SampleTest *test)
{
	double		fraction = 0;
	double		other_a = a->nonnull;	/* fraction of rows whose value is not common in both */
	double		other_b = b->nonnull;
	double		ndistinct = Max(a->ndistinct + a->ncommon, b->ndistinct + b->ncommon);

	for (int i = 0; i < a->nvalues; i++)
	{
		for (int j = 0; j < b->nvalues; j++)
		{
			Relationship relationship = relate(a->value[i], b->value[j], test);

			if (relationship == VALUES_EQUAL && i < a->ncommon && j < b->ncommon)
			{
				other_a -= a->fraction[i];
				other_b -= b->fraction[j];
				ndistinct--;
				relationship = test->of_equal ? VALUES_NEAR : VALUES_APART;
			}
			if (relationship == VALUES_NEAR)
				fraction += a->fraction[i] * b->fraction[j];
		}
	}
	if (test->of_equal)
	{
		fraction += (other_a * other_b - (other_a - a->rest) * (other_b - b->rest)) /
			Max(ndistinct, 1);
		fraction -= Min(test->self_pairs * a->nonnull, fraction);
	}
	return bounded(fraction, a->nonnull * b->nonnull, test);
}

/*
 * Return the fraction of outer rows that have a match among inner_rows inner rows.  A value
 * that is not common in both samples has an equal one with probability max_equal at most.
 */
double
sample_semijoin(const Sample *outer, const Sample *inner, double inner_rows,
				const SampleTest *test, double max_equal)
{
	double		outer_values = outer->ndistinct + outer->ncommon;
	double		inner_values = inner->ndistinct + inner->ncommon;
	double		background = bounded(0, inner->nonnull, test) * inner_rows;
	double		equal = 0;
	double		rest = outer->rest;
	double		fraction = 0;

	/*
	 * The probability that a value which is not common in both samples has an equal one: as if
	 * all inner values were among the outer ones, but at most max_equal.
	 */
	if (test->of_equal)
		equal = Min(Min(inner_values, inner_rows) / outer_values, max_equal);
	for (int i = 0; i < outer->nvalues; i++)
	{
		bool		is_common;
		double		matches = inner_rows *
			fraction_near(inner, outer->value[i], test, &is_common);

		if (!is_common)
			matches += equal;
		fraction += outer->fraction[i] * Min(Max(matches, background), 1);
		if (i >= outer->ncommon)
			rest -= outer->fraction[i];
	}

	/*
	 * the other outer rows, which no value of the sample represents, match as often as
	 * equal or unrelated values do, whichever is more
	 */
	fraction += Max(rest, 0) * Min(Max(equal, background), 1);
	return Min(fraction, outer->nonnull);
}
