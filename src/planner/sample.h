/*-------------------------------------------------------------------------
 *
 * sample.h
 *		A sample of a column's fingerprints, and how many lie within a distance
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SAMPLE_H
#define SIMHASH_SAMPLE_H

#include <limits.h>

#include "utils/selfuncs.h"

#include "type/simhash.h"

/*
 * How many common values, and how many others, a sample has at most: all that
 * ANALYZE kept where they are compared with one center, few where each is
 * compared with each of another sample.
 */
#define SAMPLE_ALL				INT_MAX
#define SAMPLE_PAIRED			64

typedef struct Sample
{
	double		nonnull;		/* share of rows that are not NULL */
	int			ncommon;		/* common values, the most common first */
	int			nvalues;		/* those, then some of the others */
	SimHash    *value;
	double	   *share;			/* of rows that a value stands for */
	double		rest;			/* share of all others together */
	double		ndistinct;		/* how many there are of those */
} Sample;

/* Distances from low to high, inclusive.  None, if high is negative. */
typedef struct DistanceRange
{
	int			low;
	int			high;
} DistanceRange;

extern void sample_column(VariableStatData *column, Oid function, int limit,
						  Sample *sample);
extern void sample_free(Sample *sample);
extern double sample_within(const Sample *sample, SimHash center, DistanceRange range);
extern double sample_pairs(const Sample *a, const Sample *b, DistanceRange range);
extern double sample_partnered(const Sample *outer, const Sample *inner,
							   double inner_rows, DistanceRange range);

#endif							/* SIMHASH_SAMPLE_H */
