/*-------------------------------------------------------------------------
 *
 * sample.c
 *		A sample of a column's values, and how many are near others
 *
 * ANALYZE keeps the most common values of a column and a histogram of the
 * others.  The bounds of the histogram are values of rows, evenly spread by
 * order, which says nothing about their distances: so they are a sample.
 *
 * A sample of a hundred cannot show what is rarer than one in a hundred, and
 * finds each of its own values at distance 0.  So equal values are counted as
 * equality is, by the number of distinct values, and no estimate is below what
 * unrelated values would give.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "planner/sample.h"
#include "type/minhash_type.h"
#include "type/simhash_type.h"

/* How many values a column has that was never analyzed. */
#define DEFAULT_NDISTINCT		10000

/* --- making a sample -------------------------------------------------------- */

/*
 * Return whether values are of a type, that of signatures, arrays or balls; or, if it is
 * none, have 64 bits: fingerprints, or what is cast to such.
 */
static bool
is_of_type(Oid type, Oid expected)
{
	if (OidIsValid(expected))
		return getBaseType(type) == expected;
	return get_typlen(type) == sizeof(uint64) && get_typbyval(type) == FLOAT8PASSBYVAL;
}

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
 * Copy a value of the statistics, which are freed.  Of a ball, return the center.
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
 * The values of a column.  Common ones beyond the limit count among the others.
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
 * Read the statistics of a column of a type, as far as the function that compares its
 * values may see them.  Without any, the sample has no values.
 */
void
sample_column(VariableStatData *column, Oid function, Oid type, int limit, Sample *sample)
{
	bool		is_default;

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

	/* without values, no radius is known */
	sample->of_balls &= sample->nvalues > 0;

	sample->ndistinct = get_variable_numdistinct(column, &is_default);
	if (is_default)
		sample->ndistinct = DEFAULT_NDISTINCT;
	sample->ndistinct = Max(sample->ndistinct - sample->ncommon, 1);
}

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

/* --- asking it -------------------------------------------------------------- */

/*
 * No fewer than unrelated values would give, and no more than there are.
 */
static double
bounded(double fraction, double nonnull, const MatchPredicate *match)
{
	return Min(Max(fraction, nonnull * match->min_fraction), nonnull * match->max_fraction);
}

/*
 * The fraction of rows that are near a value, but for others equal to it, which
 * *is_common tells: the value is one of the common ones.
 */
static double
fraction_near(const Sample *sample, Datum value, const MatchPredicate *match, bool *is_common)
{
	double		fraction = 0;

	*is_common = false;
	for (int i = 0; i < sample->nvalues; i++)
	{
		switch (match->relate(value, sample->value[i], match))
		{
			case VALUES_EQUAL:
				if (i >= sample->ncommon)
					break;
				*is_common = true;
				if (match->of_equal)
					fraction += sample->fraction[i];
				break;
			case VALUES_NEAR:
				fraction += sample->fraction[i];
				break;
			case VALUES_APART:
				break;
		}
	}
	return fraction;
}

/*
 * The fraction of rows that are near a known value.
 */
double
sample_near(const Sample *sample, Datum value, const MatchPredicate *match)
{
	bool		is_common;
	double		fraction = fraction_near(sample, value, match, &is_common);

	if (!is_common && match->of_equal)
		fraction += sample->rest / sample->ndistinct;
	return bounded(fraction, sample->nonnull, match);
}

/*
 * What a sample has in common with another: of the common values of one, how
 * many are common in the other, and the fraction that the rest of them have.
 */
typedef struct Matching
{
	int			nmatches;
	double		unmatched;		/* fraction of common values without a match */
} Matching;

/*
 * The fraction of pairs that are equal, but for those of a value common in both, if
 * all values of `a` were found in `b`: as eqjoinsel has it.
 */
static double
equal_pairs(const Sample *a, const Matching *in_a, const Sample *b, const Matching *in_b)
{
	return in_a->unmatched * b->rest / b->ndistinct +
		a->rest * (b->rest + in_b->unmatched) /
		Max(b->ndistinct + b->ncommon - in_b->nmatches, 1);
}

/*
 * The fraction of rows of `a` that are common values which are not common in `b`.
 */
static Matching
match_common(const Sample *a, const Sample *b, const MatchPredicate *match)
{
	Matching	matching = {0};

	for (int i = 0; i < a->ncommon; i++)
	{
		int			j = 0;

		while (j < b->ncommon &&
			   match->relate(b->value[j], a->value[i], match) != VALUES_EQUAL)
			j++;
		if (j < b->ncommon)
			matching.nmatches++;
		else
			matching.unmatched += a->fraction[i];
	}
	return matching;
}

/*
 * The fraction of pairs, of a row each of two columns, that are near each other.
 * Which column is the first makes no difference.
 */
double
sample_pairs(const Sample *a, const Sample *b, const MatchPredicate *match)
{
	double		fraction = 0;

	for (int i = 0; i < a->nvalues; i++)
	{
		for (int j = 0; j < b->nvalues; j++)
		{
			Relationship relationship = match->relate(a->value[i], b->value[j], match);

			if (relationship == VALUES_NEAR ||
				(relationship == VALUES_EQUAL && match->of_equal &&
				 i < a->ncommon && j < b->ncommon))
				fraction += a->fraction[i] * b->fraction[j];
		}
	}
	if (match->of_equal)
	{
		Matching	in_a = match_common(a, b, match);
		Matching	in_b = match_common(b, a, match);

		fraction += Min(equal_pairs(a, &in_a, b, &in_b), equal_pairs(b, &in_b, a, &in_a));
	}
	return bounded(fraction, a->nonnull * b->nonnull, match);
}

/*
 * The fraction of outer rows that have a partner near them among so many inner rows.
 */
double
sample_semijoin(const Sample *outer, const Sample *inner, double inner_rows,
				const MatchPredicate *match)
{
	Matching	matching = match_common(outer, inner, match);
	double		outer_values = outer->ndistinct + outer->ncommon - matching.nmatches;
	double		inner_values = inner->ndistinct + inner->ncommon - matching.nmatches;
	double		background = bounded(0, inner->nonnull, match) * inner_rows;
	double		equal = 0;
	double		rest = outer->rest;
	double		fraction = 0;

	/* values that are not common in both: as many as can be are equal */
	if (match->of_equal)
		equal = Min(inner_values, inner_rows) / Max(outer_values, 1);
	for (int i = 0; i < outer->nvalues; i++)
	{
		bool		is_common;
		double		matches = inner_rows *
			fraction_near(inner, outer->value[i], match, &is_common);

		if (!is_common)
			matches += equal;
		fraction += outer->fraction[i] * Min(Max(matches, background), 1);
		if (i >= outer->ncommon)
			rest -= outer->fraction[i];
	}

	/* where the others have no sample */
	fraction += Max(rest, 0) * Min(Max(equal, background), 1);
	return Min(fraction, outer->nonnull);
}
