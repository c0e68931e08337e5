/*
 * All pairs of fingerprints within a radius
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SIMILARITY_JOIN_H
#define SIMHASH_SIMILARITY_JOIN_H

#include "digest/simhash.h"

/*
 * Fingerprints, each with a number of the caller's, such as its row.  A join changes the
 * order of the members.
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
 * A similarity join, which is an iterator over ranges of members.  Each pair of members
 * within the radius is in at least one range.  Users put this struct first in a struct of
 * their own.
 *
 * The callbacks get the index of the first member of a range and the number of members.
 * They may change the order of members within the range.
 */
typedef struct SimilarityJoin SimilarityJoin;

struct SimilarityJoin
{
	Members		members;
	int			radius;			/* in bits, 0 to 64 */
	uint64		random;			/* state of splitmix64, initially the seed */

	/* Estimates the number of comparisons if all pairs of a range are compared. */
	double		(*comparisons) (SimilarityJoin *join, uint32 first, uint32 n);

	/* Returns true if a range needs no more comparisons.  Must be quick.  May be NULL. */
	bool		(*is_done) (SimilarityJoin *join, uint32 first, uint32 n);

	/*
	 * Compares some members of a range with all other members of the range.  Moves the
	 * members that need no more comparisons to the front, and returns their number.  Must
	 * be quick.  May be NULL.
	 */
	uint32		(*reduce) (SimilarityJoin *join, uint32 first, uint32 n);

	/* Private state of the iterator */
	uint32		unentered;		/* number of members at first, 0 once the first range has
								 * been entered */
	struct JoinPlan *plan;		/* plan to continue, or NULL */
	int			block;			/* the block of this plan that is the first of each choice */
	int			nbits;			/* number of bits of this block that all members agree on */
	struct JoinFrame *stack;
	int			depth;
	int			max_depth;
	uint64	   *skipped;		/* masks of the blocks that the current choice skips */
	int			nskipped;
	int			max_skipped;
	uint64		chosen;			/* mask of the block chosen last, and of the first block if
								 * a plan is continued */

	/* The plan for all members, for EXPLAIN */
	int			agree;			/* number of blocks of a choice; 0 if all are compared */
	int			nblocks;
};

extern void similarity_join_begin(SimilarityJoin *join, uint32 n, struct JoinPlan *plan,
								  int block, int nbits);
extern bool similarity_join_next(SimilarityJoin *join, uint32 *first, uint32 *n);
extern void similarity_join_end(SimilarityJoin *join);

/*
 * Return true if the current range is the one that reports a pair.  `difference` has the
 * bits in which the two members differ.  A pair is in the range of every choice whose
 * blocks it agrees on.  Only the first of these choices reports it: the pair agrees on the
 * chosen blocks, and on no block that the choice skips.
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
	uint32		tag = members->tag[a];

	members->fp[a] = members->fp[b];
	members->tag[a] = members->tag[b];
	members->fp[b] = fp;
	members->tag[b] = tag;
}

#endif							/* SIMHASH_SIMILARITY_JOIN_H */
