/*-------------------------------------------------------------------------
 *
 * similarity_join.h
 *		All pairs of fingerprints within a radius
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SIMILARITY_JOIN_H
#define SIMHASH_SIMILARITY_JOIN_H

#include "digest/simhash.h"

/*
 * Fingerprints, each with the number of a row.  A join changes their order.
 */
typedef struct Members
{
	SimHash    *fp;
	uint32	   *row;
	SimHash    *scratch;		/* scratch space for as many fingerprints, to sort them */
	uint64		seed;			/* seed of random choices, which affect only run time;
								 * random, so that input cannot be crafted to be slow */
} Members;

/*
 * A join and its callbacks.  A callback is called with a range of members: the number of
 * the first one and their number.  It may change the order within the range.  Users put
 * this struct first in a struct of their own.
 */
typedef struct SimilarityJoin SimilarityJoin;

struct SimilarityJoin
{
	Members		members;
	int			radius;			/* in bits, 0 to 64 */
	uint64		random;			/* state of splitmix64, initially the seed */

	/*
	 * Process all pairs of a range that are within the radius.  Each pair within the
	 * radius is in at least one range that this is called with.
	 */
	void		(*compare) (SimilarityJoin *join, uint32 first, uint32 n);

	/* Estimate the number of comparisons that compare() makes. */
	double		(*comparisons) (SimilarityJoin *join, uint32 first, uint32 n);

	/* Return true if a range needs no more work.  Must be quick. */
	bool		(*settled) (SimilarityJoin *join, uint32 first, uint32 n);

	/*
	 * Process all pairs of some members with the other members of a range, move these
	 * members to the front, and return their number.  Must be quick.  May be NULL.
	 */
	uint32		(*reduce) (SimilarityJoin *join, uint32 first, uint32 n);
};

extern void similarity_join(SimilarityJoin *join, uint32 first, uint32 n);

#endif							/* SIMHASH_SIMILARITY_JOIN_H */
