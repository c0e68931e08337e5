/*-------------------------------------------------------------------------
 *
 * join_plan.h
 *		Which bits a similarity join cuts fingerprints by
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
 * Bits that vary are cut into `radius` blocks and `agree` more: fingerprints within
 * the radius agree on at least so many of the blocks.
 */
typedef struct JoinPlan
{
	int			nbits;			/* that vary */
	uint8		bit[SIMHASH_BITS];	/* which, the highest first; 63 is the most
									 * significant */
	double		weight[SIMHASH_BITS];	/* of each; 1 if half of all have it */
	int			agree;			/* 0: no blocks, all are to be compared with all */
	int			nblocks;
	uint8		start[SIMHASH_BITS + 1];	/* of each block in bit[], and the end */
} JoinPlan;

/* Members are put into their places by so many bits, a digit, at a time. */
#define DIGIT_BITS			8

/* What that costs for one of them, in comparisons; measured.  Tests have it cheap. */
#ifndef PARTITION_COST
#define PARTITION_COST		50
#endif

extern void join_plan_measure(JoinPlan *plan, const SimHash *fp, uint32 n,
							  uint64 *random);
extern void join_plan_choose(JoinPlan *plan, uint32 n, int radius, double comparisons);

#endif							/* SIMHASH_JOIN_PLAN_H */
