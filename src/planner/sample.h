/*-------------------------------------------------------------------------
 *
 * sample.h
 *		A sample of a column's values, and how many are near others
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
 * How many common values, and how many others, a sample has at most: all that
 * ANALYZE kept where they are compared with one center, few where each is
 * compared with each of another sample.
 */
#define SAMPLE_ALL				INT_MAX
#define SAMPLE_PAIRED			64
#define SAMPLE_PAIRED_LARGE		40	/* of signatures and arrays */

typedef struct Sample
{
	Oid			type;			/* of signatures, arrays or balls; InvalidOid: any of 64 bits */
	bool		of_balls;		/* the values are their centers */
	double		radius;			/* of the balls, on average */
	double		nonnull;		/* fraction of rows that are not NULL */
	int			ncommon;		/* common values, the most common first */
	int			nvalues;		/* those, then some of the others */
	Datum	   *value;
	double	   *fraction;		/* of rows that a value stands for */
	double		rest;			/* fraction of all others together */
	double		ndistinct;		/* how many there are of those */
} Sample;

extern void sample_column(VariableStatData *column, Oid function, Oid type, int limit,
						  Sample *sample);
extern void sample_free(Sample *sample);
extern double sample_near(const Sample *sample, Datum value, const MatchPredicate *match);
extern double sample_pairs(const Sample *a, const Sample *b, const MatchPredicate *match);
extern double sample_semijoin(const Sample *outer, const Sample *inner,
							  double inner_rows, const MatchPredicate *match);

#endif							/* SIMHASH_SAMPLE_H */
