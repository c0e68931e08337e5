/*-------------------------------------------------------------------------
 *
 * accumulate.h
 *		From hashed features to a fingerprint
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ACCUMULATE_H
#define SIMHASH_ACCUMULATE_H

#include "digest/simhash.h"

/*
 * Weights are fixed-point numbers.  So sums are exact, and neither the order of features
 * nor parallel workers change a fingerprint.
 */
#define WEIGHT_ONE			(INT64CONST(1) << 24)

/*
 * Maximum absolute weight of a feature, in units of 1, and of all features together, in
 * units of 1/WEIGHT_ONE.
 */
#define WEIGHT_MAX			(INT64CONST(1) << 20)
#define MAGNITUDE_MAX		(UINT64CONST(1) << 62)

/*
 * Features of weight 1 are counted in bit slices.  Bit b of plane j is bit j of the
 * number of features that have bit b set.  This many planes count to 2^40.
 */
#define COUNT_PLANES		40

/* Features that are added to the planes together. */
#define COUNT_BATCH			16

/*
 * Charikar's 64 counters are 2 * sum - total: the weight for a bit minus the weight
 * against it.  Features of weight 1 are kept apart until they must be added to weighted
 * ones.
 */
typedef struct Accumulator
{
	uint64		count;			/* features of weight 1 in the planes */
	uint64		plane[COUNT_PLANES];
	int			nbatch;			/* features in the batch, not in the planes yet */
	uint64		batch[COUNT_BATCH];
	int64		sum[SIMHASH_BITS];	/* by bit: weight of the features that have it set */
	int64		total;			/* weight of all features */
	uint64		magnitude;		/* their absolute weight; bounds the sums */
} Accumulator;

extern void accumulator_init(Accumulator *acc);
extern void accumulator_count(Accumulator *acc, uint64 *hashes, int n);
extern void accumulator_count_batch(Accumulator *acc);
extern bool accumulator_add_weighted(Accumulator *acc, uint64 hash, int64 weight);
extern void accumulator_fold_counts(Accumulator *acc);
extern bool accumulator_merge(Accumulator *acc, Accumulator *other);
extern bool accumulator_fingerprint(Accumulator *acc, SimHash *fingerprint);

/*
 * Add a feature of weight 1.  (MAGNITUDE_MAX leaves a margin for 2^38 of them beyond what
 * accumulator_add_weighted() allows, more than anybody can add.)
 */
static inline void
accumulator_add(Accumulator *acc, uint64 hash)
{
	acc->batch[acc->nbatch++] = hash;
	if (acc->nbatch == COUNT_BATCH)
		accumulator_count_batch(acc);
}

#endif							/* SIMHASH_ACCUMULATE_H */
