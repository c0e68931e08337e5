/*-------------------------------------------------------------------------
 *
 * join_plan.h
 *		Plan of a similarity join: the blocks to cut fingerprints into
 *
 * Pure computation.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_PLAN_H
#define SIMHASH_JOIN_PLAN_H

#include "digest/simhash.h"

/*
 * A plan cuts the bits that vary into `radius` + `agree` blocks.  Fingerprints within the
 * radius agree on at least `agree` of the blocks.
 */
typedef struct JoinPlan
{
	int			nbits;			/* number of bits that vary */
	uint8		bit[SIMHASH_BITS];	/* these bits, the highest first; 63 is the most
									 * significant */
	double		weight[SIMHASH_BITS];	/* weight of each; 1 if half of the
										 * fingerprints have the bit */
	int			agree;			/* number of blocks to agree on; 0: no blocks, compare
								 * all with all */
	int			nblocks;
	uint8		start[SIMHASH_BITS + 1];	/* start of each block in bit[], then the
											 * end */
	uint64		mask[SIMHASH_BITS]; /* bits of each block */
} JoinPlan;

/* Members are partitioned by a digit of this many bits at a time. */
#define DIGIT_BITS			8

/*
 * Cost of partitioning one member by one digit, in comparisons, as measured.  Tests set
 * it low.
 */
#ifndef PARTITION_COST
#define PARTITION_COST		50
#endif

extern void join_plan_make(JoinPlan *plan, const SimHash *fp, uint32 nfp, double n,
						   int radius, double comparisons, uint64 *random);
extern double join_plan_cost(double n, int radius, double comparisons);

#endif							/* SIMHASH_JOIN_PLAN_H */
