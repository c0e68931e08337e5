/*
 * From hashed features to a fingerprint
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_ACCUMULATE_H
#define SIMHASH_ACCUMULATE_H

#include "bits.h"
#include "cpu.h"

/*
 * Weights are fixed-point numbers.  So sums are exact, and neither the order of features
 * nor parallel workers change a fingerprint.
 */
#define WEIGHT_ONE			(INT64CONST(1) << 24)

/*
 * Maximum absolute weight of a feature, in units of 1, and maximum absolute weight of all
 * features together, in units of 1/WEIGHT_ONE.
 */
#define WEIGHT_MAX			(INT64CONST(1) << 20)
#define MAGNITUDE_MAX		(UINT64CONST(1) << 62)

/*
 * Features of weight 1 are counted in bit slices.  Bit b of plane j is bit j of the number
 * of features that have bit b set.  So many planes count 2^40 - 1 features.
 */
#define COUNT_PLANES		40

/* Number of features that are added to the planes together. */
#define COUNT_BATCH			16

/*
 * Counters of a fingerprint's bits.  Charikar's 64 counters are 2 * sum - total, which is
 * the weight of the features with the bit set minus the weight of the others.  Features of
 * weight 1 are counted separately until they must be added to weighted features.  If all bytes
 * are zero, there is no feature.
 */
typedef struct Accumulator
{
	uint64		count;			/* number of features of weight 1 in the planes */
	uint64		plane[COUNT_PLANES];
	int			nbatch;			/* number of features in the batch, which are not in the
								 * planes yet */
	uint64		batch[COUNT_BATCH];
	int64		sum[SIMHASH_BITS];	/* for each bit: weight of the features that have it
									 * set */
	int64		total;			/* weight of all features */
	uint64		magnitude;		/* sum of the absolute weights of all features; bounds the
								 * sums */
} Accumulator;

/* Adds weight to sum[i] for each bit i set in hash.  sum has SIMHASH_BITS elements. */
typedef void (*WeighFunction) (int64 *sum, uint64 hash, int64 weight);

/* All methods, for tests. */
extern const CpuMethod weigh_methods[];
extern const int weigh_nmethods;

/* The best method that the processor supports. */
extern WeighFunction weigh;

extern void accumulator_count(Accumulator *acc, uint64 *hashes, int n);
extern void accumulator_count_batch(Accumulator *acc);
extern bool accumulator_add_weighted(Accumulator *acc, uint64 hash, int64 weight);
extern bool accumulator_merge(Accumulator *acc, Accumulator *other);
extern bool accumulator_fingerprint(Accumulator *acc, SimHash *fingerprint);

/*
 * Add a feature of weight 1.  This needs no check, because MAGNITUDE_MAX leaves a margin
 * for 2^38 of these features, more than anybody can add.
 */
static inline void
accumulator_add(Accumulator *acc, uint64 hash)
{
	acc->batch[acc->nbatch++] = hash;
	if (acc->nbatch == COUNT_BATCH)
		accumulator_count_batch(acc);
}

#endif							/* SIMHASH_ACCUMULATE_H */
