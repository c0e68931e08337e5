/*
 * Pairs of entries of two inputs within a radius
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_DISTANCE_PAIRS_H
#define SIMHASH_DISTANCE_PAIRS_H

#include "join/store/entries.h"
#include "pairs/block_cut.h"
#include "pairs/near_pairs.h"

/* Maximum number of members that are compared with as many others at once. */
#define MEMBERS_AT_ONCE		128

/*
 * A distinct fingerprint of a group, and its entries in both inputs.
 */
typedef struct JoinValue
{
	JoinEntry  *left;
	JoinEntry  *right;
	uint32		nleft;
	uint32		nright;
	uint32		nunmatched;		/* number of left entries that need a match */
} JoinValue;

/*
 * An iterator over pairs of a left value and a right value within the radius.
 */
typedef struct JoinPairs
{
	NearPairs	near_pairs;		/* joins the values of a group; must be first */
	MemoryContext context;		/* context of the iterator's memory */
	const uint32 *done;			/* bitmap of left rows that need no more matches; NULL if
								 * all left rows need all of their matches */
	bool		is_self;		/* true if the left entries are the right ones, too */
	BlockCut   *cut;			/* cut of the partitions that entries come from, or NULL */
	int			block;			/* the block of the cut that the entries are partitioned
								 * by */
	int			nbits;			/* number of bits of this block that entries with equal
								 * hash values agree on */

	/* Entries that have not been read yet, sorted by hash value and fingerprint */
	JoinEntry  *left;
	JoinEntry  *left_end;
	JoinEntry  *right;
	JoinEntry  *right_end;

	/*
	 * Values of the current group.  Values with only left entries come first, then values
	 * with both, then values with only right entries.
	 */
	JoinValue  *value;
	uint32		capacity;		/* capacity of `value` and of the arrays of `near_pairs` */
	uint32		nvalues;
	uint32		first_right;	/* index of the first value with right entries */
	uint32		end_left;		/* end of the values with left entries (exclusive) */
	uint32		nequal;			/* index of the next value to pair with itself */
	uint32		nunmatched;		/* number of left entries that need a match */

	/* State of the comparisons in the current range of the enumeration */
	bool		in_group;
	uint32		range;
	uint32		range_end;
	uint32		range_right;	/* first member of the range with right entries */
	uint32		range_left_end; /* end of the members with left entries (exclusive) */
	uint32		member;			/* first of the members that are compared with others */
	uint32		nmembers;
	uint32		compared_from;	/* first member compared by the last call of match_keys() */
	uint32		compared_to;	/* next member to compare with these members */
	int			nmatches;
	int			match;
	KeyMatch	matches[MEMBERS_AT_ONCE * MEMBERS_AT_ONCE];
	bool		commute;		/* true if the current pair is to be returned again,
								 * exchanged */

	/* For EXPLAIN */
	uint64		ncompared;		/* number of comparisons of two fingerprints */
	double		ndistinct;		/* number of values of all groups */
	uint32		largest_group;	/* number of values of the largest group that was joined */
	int			agree;			/* number of blocks on which compared values of the largest
								 * group agree; 0 if all its values were compared */
	int			nblocks;		/* number of blocks that the largest group was cut into */
} JoinPairs;

extern void join_pairs_begin(JoinPairs *pairs, const JoinEntries *left, const JoinEntries *right,
							 const uint32 *done, BlockCut *cut, int block, int nbits);
extern void join_pairs_count_unmatched(JoinPairs *pairs, JoinValue *value);
extern bool join_pairs_next(JoinPairs *pairs, JoinValue **left, JoinValue **right);

#endif							/* SIMHASH_DISTANCE_PAIRS_H */
