/*-------------------------------------------------------------------------
 *
 * sample.h
 *		A sample of a column's fingerprints, and how many lie within a radius
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SAMPLE_H
#define SIMHASH_SAMPLE_H

#include "utils/selfuncs.h"

#include "type/simhash.h"

/* How many common values, and how many others, a sample has at most. */
#define SAMPLE_MAX				128

typedef struct Sample
{
	double		nonnull;		/* share of rows that are not NULL */
	int			ncommon;		/* common values, each with its share of rows */
	SimHash		common[SAMPLE_MAX];
	double		share[SAMPLE_MAX];
	double		rest;			/* share of all other values together */
	double		ndistinct;		/* how many there are of those */
	int			nother;			/* some of them */
	SimHash		other[SAMPLE_MAX];
} Sample;

extern void sample_column(VariableStatData *column, Oid function, Sample *sample);
extern double sample_within(const Sample *sample, SimHash center, int radius);
extern double sample_within_any(const Sample *sample, const Sample *centers, int radius);

#endif							/* SIMHASH_SAMPLE_H */
