/*
 * Samples of columns, and the fraction of rows that match
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SAMPLE_H
#define SIMHASH_SAMPLE_H

#include <limits.h>

#include "utils/selfuncs.h"

/*
 * Maximum number of common values in a sample, and of histogram bounds.  A sample to
 * compare with a single value has all values that ANALYZE kept.  Two samples to compare
 * with each other have few, since all pairs of their values are compared.
 */
#define SAMPLE_ALL				INT_MAX
#define SAMPLE_PAIRED			64
#define SAMPLE_PAIRED_LARGE		40	/* for signatures and arrays */

typedef struct Sample
{
	Oid			type;			/* type of the values, if they are signatures, arrays or
								 * balls; InvalidOid if they have 64 bits, of any type */
	bool		of_balls;		/* true if the values are the centers of balls */
	double		radius;			/* average radius of the balls, in bits */
	double		nonnull;		/* fraction of rows whose value is not NULL */
	int			ncommon;		/* number of common values */
	int			nvalues;		/* number of common values and histogram bounds */
	Datum	   *value;			/* common values, the most common first, then histogram
								 * bounds */
	double	   *fraction;		/* fraction of rows that the value represents, for each
								 * value */
	double		rest;			/* fraction of rows whose value is neither NULL nor one of
								 * the common values of the sample */
	double		ndistinct;		/* number of distinct values of the rows that `rest`
								 * counts, at least 1 */
} Sample;

/*
 * A test of pairs of values: of fingerprints for their distance, or of signatures for a shared
 * band.
 */
typedef struct SampleTest
{
	bool		of_signatures;
	bool		of_equal;		/* true if the test holds for equal values */
	double		min_fraction;	/* lower bound: fraction of unrelated pairs for which
								 * the test holds */
	double		self_pairs;		/* fraction of pairs that are a row and itself, if another
								 * clause excludes them; otherwise 0 */

	/* For fingerprints: the distances for which the test holds, inclusive, in bits */
	int			low;
	int			high;
} SampleTest;

extern void sample_column(VariableStatData *column, Oid function, Oid type, int limit,
						  Sample *sample);
extern double sample_ndistinct(VariableStatData *column);
extern double sample_inner_rows(const VariableStatData *column, const SpecialJoinInfo *sjinfo);
extern void sample_free(Sample *sample);
extern double sample_near(const Sample *sample, Datum value, const SampleTest *test);
extern double sample_pairs(const Sample *a, const Sample *b, const SampleTest *test);
extern double sample_semijoin(const Sample *outer, const Sample *inner,
							  double inner_rows, const SampleTest *test,
							  double max_equal);

#endif							/* SIMHASH_SAMPLE_H */
