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
 * A join: an iterator over ranges of members.  Each pair of members within the radius is in
 * at least one range.  Users put this struct first in a struct of their own.
 *
 * The callbacks get a range: the number of its first member and the number of members.
 * They may change the order within the range.
 */
typedef struct SimilarityJoin SimilarityJoin;

struct SimilarityJoin
{
	Members		members;
	int			radius;			/* in bits, 0 to 64 */
	uint64		random;			/* state of splitmix64, initially the seed */

	/* Estimate the number of comparisons that all pairs of a range take. */
	double		(*comparisons) (SimilarityJoin *join, uint32 first, uint32 n);

	/* Return true if a range needs no more work.  Must be quick.  May be NULL. */
	bool		(*settled) (SimilarityJoin *join, uint32 first, uint32 n);

	/*
	 * Process all pairs of some members with the other members of a range, move these
	 * members to the front, and return their number.  Must be quick.  May be NULL.
	 */
	uint32		(*reduce) (SimilarityJoin *join, uint32 first, uint32 n);

	/* Private state of the iterator */
	uint32		unentered;		/* number of members, before the first range */
	struct JoinPlan *plan;		/* plan to continue, or NULL */
	int			block;			/* the block of this plan that is chosen first */
	struct JoinFrame *stack;
	int			depth;
	int			max_depth;
	uint64	   *skipped;		/* masks of the blocks that the choice skips */
	int			nskipped;
	int			max_skipped;
	uint64		chosen;			/* masks of the first block that was chosen, if a plan is
								 * continued, and of the last one */
};

extern void similarity_join_begin(SimilarityJoin *join, uint32 n, struct JoinPlan *plan,
								  int block);
extern bool similarity_join_next(SimilarityJoin *join, uint32 *first, uint32 *n);
extern void similarity_join_end(SimilarityJoin *join);

/*
 * Return true if the current range is the one that reports a pair, given the bits in
 * which its two members differ.  A pair is in every range whose blocks it agrees on.  It is
 * reported for the first choice of blocks among these: it agrees on the chosen blocks,
 * and on no block that the choice skips.
 */
static inline bool
similarity_join_reports(const SimilarityJoin *join, uint64 difference)
{
	if (difference & join->chosen)
		return false;
	for (int i = 0; i < join->nskipped; i++)
		if (!(difference & join->skipped[i]))
			return false;
	return true;
}

/*
 * Swap two members.
 */
static inline void
members_swap(Members *members, uint32 a, uint32 b)
{
	SimHash		fp = members->fp[a];
	uint32		row = members->row[a];

	members->fp[a] = members->fp[b];
	members->row[a] = members->row[b];
	members->fp[b] = fp;
	members->row[b] = row;
}

#endif							/* SIMHASH_SIMILARITY_JOIN_H */
