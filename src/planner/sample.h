/*-------------------------------------------------------------------------
 *
 * sample.h
 *		Samples of columns, and the fraction of rows that match
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SAMPLE_H
#define SIMHASH_SAMPLE_H

#include <limits.h>

#include "utils/selfuncs.h"

#include "planner/match_predicate.h"

/*
 * Maximum number of common values in a sample, and of histogram bounds.  For a
 * comparison with one center, use all that ANALYZE kept.  For a comparison of two
 * samples, use few, since all pairs are compared.
 */
#define SAMPLE_ALL				INT_MAX
#define SAMPLE_PAIRED			64
#define SAMPLE_PAIRED_LARGE		40	/* signatures and arrays */

typedef struct Sample
{
	Oid			type;			/* type of signatures, arrays or balls; InvalidOid: any
								 * type of 64 bits */
	bool		of_balls;		/* the values are centers of balls */
	double		radius;			/* average radius of the balls, in bits */
	double		nonnull;		/* fraction of rows that are not NULL */
	int			ncommon;		/* number of common values */
	int			nvalues;		/* number of common values and histogram bounds */
	Datum	   *value;			/* common values, the most common first, then bounds */
	double	   *fraction;		/* fraction of rows that a value stands for */
	double		rest;			/* fraction of rows that have any other value */
	double		ndistinct;		/* number of distinct values in the rest */
} Sample;

extern void sample_column(VariableStatData *column, Oid function, Oid type, int limit,
						  Sample *sample);
extern void sample_free(Sample *sample);
extern double sample_near(const Sample *sample, Datum value, const MatchPredicate *match);
extern double sample_pairs(const Sample *a, const Sample *b, const MatchPredicate *match);
extern double sample_semijoin(const Sample *outer, const Sample *inner,
							  double inner_rows, const MatchPredicate *match);

#endif							/* SIMHASH_SAMPLE_H */
