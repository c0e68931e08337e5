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
	SimHash    *scratch;			/* for as many fingerprints, while they are sorted */
	uint64		seed;			/* of choices that change how long a join takes, not
								 * what it finds; nobody can make data slow who
								 * does not know it */
} Members;

/*
 * What is joined, and what is done with it.  The functions are called with ranges of
 * members, the number of the first one and how many there are; they may change the
 * order within the range.  Whoever uses this puts it at the front of a struct of its
 * own.
 */
typedef struct SimilarityJoin SimilarityJoin;

struct SimilarityJoin
{
	Members		members;
	int			radius;			/* 0 to 64 */
	uint64		random;			/* state of splitmix64, from the seed */

	/*
	 * Deal with all pairs of a range that are within the radius.  Each pair is in at
	 * least one of the ranges that this is called with.
	 */
	void		(*compare) (SimilarityJoin *join, uint32 first, uint32 n);

	/* Number of comparisons that this takes, at an estimate. */
	double		(*comparisons) (SimilarityJoin *join, uint32 first, uint32 n);

	/* Whether there is nothing to be done in a range any more; quick. */
	bool		(*settled) (SimilarityJoin *join, uint32 first, uint32 n);

	/*
	 * Bring some members, of which all pairs with others of the range are dealt with,
	 * to the front, and return their number; quick.  May be NULL.
	 */
	uint32		(*reduce) (SimilarityJoin *join, uint32 first, uint32 n);
};

extern void similarity_join(SimilarityJoin *join, uint32 first, uint32 n);

#endif							/* SIMHASH_SIMILARITY_JOIN_H */
