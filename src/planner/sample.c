/*-------------------------------------------------------------------------
 *
 * sample.c
 *		A sample of a column's fingerprints, and how many lie within a radius
 *
 * ANALYZE keeps the most common values of a column and a histogram of the
 * others.  The bounds of the histogram are values of rows, evenly spread by
 * order, which says nothing about their distances: so they are a sample.
 *
 * A sample of a hundred cannot show what is rarer than one in a hundred, and
 * finds each of its own values at distance 0.  So equal values are counted as
 * equality is, by the number of distinct values, and no estimate is below what
 * fingerprints of unrelated texts would give.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "utils/lsyscache.h"

#include "planner/sample.h"

/* Share of rows near a center in a column that was never analyzed. */
#define DEFAULT_WITHIN			0.0001

/* Of how many centers an average is taken, besides the common ones. */
#define MAX_CENTERS				32

/* Whether values of the type are 64 bits: simhash, or what is cast to it. */
static bool
is_fingerprint(Oid type)
{
	return get_typlen(type) == sizeof(SimHash) && get_typbyval(type);
}

static void
sample_common(AttStatsSlot *slot, Sample *sample)
{
	sample->ncommon = Min(slot->nvalues, SAMPLE_MAX);
	for (int i = 0; i < sample->ncommon; i++)
	{
		sample->common[i] = DatumGetSimHash(slot->values[i]);
		sample->share[i] = slot->numbers[i];
		sample->rest -= slot->numbers[i];
	}
	sample->rest = Max(sample->rest, 0);
}

static void
sample_others(AttStatsSlot *slot, Sample *sample)
{
	sample->nother = Min(slot->nvalues, SAMPLE_MAX);
	for (int i = 0; i < sample->nother; i++)
		sample->other[i] =
			DatumGetSimHash(slot->values[(int64) i * slot->nvalues / sample->nother]);
}

/*
 * Read the statistics of a column, as far as the function that compares its
 * values may see them.  Without any, the sample is empty.
 */
void
sample_column(VariableStatData *column, Oid function, Sample *sample)
{
	AttStatsSlot slot;
	bool		is_default;

	sample->nonnull = 1;
	sample->ncommon = 0;
	sample->nother = 0;
	if (HeapTupleIsValid(column->statsTuple))
		sample->nonnull -=
			((Form_pg_statistic) GETSTRUCT(column->statsTuple))->stanullfrac;
	sample->rest = sample->nonnull;

	if (HeapTupleIsValid(column->statsTuple) &&
		statistic_proc_security_check(column, function))
	{
		if (get_attstatsslot(&slot, column->statsTuple, STATISTIC_KIND_MCV,
							 InvalidOid, ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
		{
			if (is_fingerprint(slot.valuetype))
				sample_common(&slot, sample);
			free_attstatsslot(&slot);
		}
		if (get_attstatsslot(&slot, column->statsTuple, STATISTIC_KIND_HISTOGRAM,
							 InvalidOid, ATTSTATSSLOT_VALUES))
		{
			if (is_fingerprint(slot.valuetype))
				sample_others(&slot, sample);
			free_attstatsslot(&slot);
		}
	}

	sample->ndistinct = get_variable_numdistinct(column, &is_default);
	if (is_default)
		sample->ndistinct = 1 / DEFAULT_WITHIN;
	sample->ndistinct = Max(sample->ndistinct - sample->ncommon, 1);
}

/*
 * The share of all fingerprints that lie within a radius of one of them.
 */
static double
uniform_tail(int radius)
{
	double		ways = 1;		/* to choose which bits differ */
	double		all = 0;

	for (int i = 0; i <= radius; i++)
	{
		all += ways;
		ways = ways * (SIMHASH_BITS - i) / (i + 1);
	}
	return all / 18446744073709551616.0;
}

static double
counted_within(const Sample *sample, SimHash center, int radius)
{
	double		share = 0;
	bool		is_common = false;
	int			hits = 0;

	for (int i = 0; i < sample->ncommon; i++)
	{
		if (simhash_distance(center, sample->common[i]) <= radius)
			share += sample->share[i];
		is_common |= center == sample->common[i];
	}
	for (int i = 0; i < sample->nother; i++)
		if (center != sample->other[i] &&
			simhash_distance(center, sample->other[i]) <= radius)
			hits++;
	if (hits > 0)
		share += sample->rest * hits / sample->nother;
	if (!is_common)
		share += sample->rest / sample->ndistinct;
	return share;
}

static double
bounded(const Sample *sample, double share, int radius)
{
	share = Max(share, sample->nonnull * uniform_tail(radius));
	return Min(share, sample->nonnull);
}

/*
 * The share of rows within a radius of a known center.
 */
double
sample_within(const Sample *sample, SimHash center, int radius)
{
	if (radius < 0)
		return 0;
	if (radius >= SIMHASH_BITS)
		return sample->nonnull;
	return bounded(sample, counted_within(sample, center, radius), radius);
}

/*
 * The share of rows within a radius of a center that is drawn from another
 * sample, or from the same: the average over those that are not NULL.
 */
double
sample_within_any(const Sample *sample, const Sample *centers, int radius)
{
	double		share = 0;
	double		weight = 0;
	int			nother = Min(centers->nother, MAX_CENTERS);

	if (radius < 0)
		return 0;
	if (radius >= SIMHASH_BITS)
		return sample->nonnull;
	for (int i = 0; i < centers->ncommon; i++)
	{
		share += centers->share[i] *
			counted_within(sample, centers->common[i], radius);
		weight += centers->share[i];
	}
	for (int i = 0; i < nother; i++)
	{
		SimHash		center = centers->other[i * centers->nother / nother];

		share += centers->rest / nother * counted_within(sample, center, radius);
		weight += centers->rest / nother;
	}
	if (weight > 0)
		share /= weight;
	else
		share = sample->rest / sample->ndistinct;
	return bounded(sample, share, radius);
}
