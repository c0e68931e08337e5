/*
 * All pairs of fingerprints within a radius
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_NEAR_PAIRS_H
#define SIMHASH_NEAR_PAIRS_H

#include "bits.h"
#include "digest/match.h"

/*
 * Fingerprints, each with a number of the caller's, such as its row.  An enumeration
 * changes the order of the members.
 */
typedef struct Members
{
	SimHash    *fp;
	uint32	   *tag;
	SimHash    *scratch;		/* scratch space for as many fingerprints, used for sorting */
	uint64		seed;			/* seed of random choices, which affect only run time; it
								 * is random, so that input cannot be crafted to be slow */
} Members;

/* Maximum number of members that one call of match_keys() compares with a member. */
#define COMPARED_AT_ONCE	1024

/*
 * An enumeration of near pairs: an iterator over ranges of members.  Each pair of members
 * within the radius is in at least one range.  Users put this struct first in a struct of
 * their own.
 *
 * The callbacks get the index of the first member of a range and the number of members.
 * They may change the order of members within the range.
 */
typedef struct NearPairs NearPairs;

struct NearPairs
{
	Members		members;
	int			radius;			/* in bits, 0 to 64 */
	uint64		random;			/* state of splitmix64, initially the seed */

	/* Estimates the number of comparisons if all pairs of a range are compared. */
	double		(*comparisons) (NearPairs *pairs, uint32 first, uint32 n);

	/*
	 * Returns true if a range needs no more comparisons.  Called for each range that is to be
	 * partitioned, so it should take less time than that.  May be NULL.
	 */
	bool		(*is_done) (NearPairs *pairs, uint32 first, uint32 n);

	/* Private state of the iterator */
	uint32		unentered;		/* number of members at first, 0 once the first range has
								 * been entered */
	struct BlockCut *cut;		/* cut to continue, or NULL */
	int			block;			/* the block of this cut that is the first of each choice */
	int			nbits;			/* number of bits of this block that all members agree on */
	struct PairsFrame *stack;
	int			depth;
	int			max_depth;
	uint64	   *skipped;		/* masks of the blocks that the current choice skips */
	int			nskipped;
	int			max_skipped;
	uint64		chosen;			/* mask of the block chosen last, and of the first block if
								 * a cut is continued */

	/* The cut for all members, for EXPLAIN */
	int			agree;			/* number of blocks of a choice; 0 if all are compared */
	int			nblocks;
};

extern void near_pairs_begin(NearPairs *pairs, uint32 n, struct BlockCut *cut,
								  int block, int nbits);
extern bool near_pairs_next(NearPairs *pairs, uint32 *first, uint32 *n);
extern void near_pairs_end(NearPairs *pairs);

/*
 * Return the rule by which the current range reports a pair.  A pair is in the range of every
 * choice whose blocks it agrees on.  Only the first of these choices reports it: the pair agrees
 * on the chosen blocks, and on no block that the choice skips.
 */
static inline MatchRule
near_pairs_rule(const NearPairs *pairs)
{
	return (MatchRule) {pairs->radius, pairs->chosen, pairs->skipped, pairs->nskipped};
}

/*
 * Swap two members.
 */
static inline void
members_swap(Members *members, uint32 a, uint32 b)
{
	SimHash		fp = members->fp[a];
	uint32		tag = members->tag[a];

	members->fp[a] = members->fp[b];
	members->tag[a] = members->tag[b];
	members->fp[b] = fp;
	members->tag[b] = tag;
}

#endif							/* SIMHASH_NEAR_PAIRS_H */
