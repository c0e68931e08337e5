/*
 * Blocks to cut fingerprints into, so that near ones agree on some of them
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_BLOCK_CUT_H
#define SIMHASH_BLOCK_CUT_H

#include "bits.h"

/*
 * A cut of fingerprints.  It cuts the bits in which the fingerprints are not all
 * equal into `radius` + `agree` blocks.  Two fingerprints within the radius then agree on
 * at least `agree` of the blocks.  If `agree` is 0, there are no blocks, and all pairs are
 * compared.
 */
typedef struct BlockCut
{
	uint8		bit[SIMHASH_BITS];	/* numbers of these bits, block by block, and in descending
									 * order within a block; 63 is the most significant bit */
	int			agree;			/* number of blocks that a choice has; 0 if all pairs are
								 * compared */
	int			nblocks;
	uint8		start[SIMHASH_BITS + 1];	/* index in bit[] of the start of each block,
											 * then the end of the last one */
	uint64		mask[SIMHASH_BITS]; /* bits of each block, as a mask */
} BlockCut;

/* Maximum number of bits that members are partitioned by at a time. */
#define DIGIT_BITS			8

/*
 * Cost of partitioning one member by one digit, in comparisons.  A measured value.  Tests
 * define a lower one.
 */
#ifndef PARTITION_COST
#define PARTITION_COST		50
#endif

extern void block_cut_make(BlockCut *cut, const SimHash *fp, uint32 nfp, double n,
						   int radius, double comparisons, uint64 *random);
extern double block_cut_cost(double n, int radius, double comparisons);

#endif							/* SIMHASH_BLOCK_CUT_H */
