/*-------------------------------------------------------------------------
 *
 * join_pairs.h
 *		Pairs of entries of two inputs within a radius
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_PAIRS_H
#define SIMHASH_JOIN_PAIRS_H

#include "corpus/join_plan.h"
#include "corpus/similarity_join.h"
#include "join/join_entries.h"

/*
 * A distinct fingerprint, and the entries that have it.
 */
typedef struct JoinValue
{
	JoinEntry  *left;
	JoinEntry  *right;
	uint32		nleft;
	uint32		nright;
	uint32		nunmatched;		/* number of left entries that need a match */
} JoinValue;

/* The number of members that are compared with one in one call of match_keys(). */
#define COMPARED_AT_ONCE	1024

/*
 * An iterator over pairs of values within the radius: a value of the left input and one
 * of the right input.
 */
typedef struct JoinPairs
{
	SimilarityJoin join;		/* of the values of a run; must be first */
	MemoryContext context;		/* of this iterator's memory; reset for each chunk */
	const uint8 *matched;		/* by row: a bit for each left row that needs no other
								 * match; NULL: all left rows need all matches */
	JoinPlan   *plan;			/* plan of the partitions that entries come from, or NULL */
	int			block;			/* the block that a partition is made by */

	/* Entries that are left to do, sorted by hash value and fingerprint */
	JoinEntry  *left;
	JoinEntry  *left_end;
	JoinEntry  *right;
	JoinEntry  *right_end;

	/*
	 * Values of the current run.  Values of left entries alone come first, then values
	 * of both inputs, then values of right entries alone.
	 */
	JoinValue  *value;
	uint32		capacity;		/* of the arrays */
	uint32		nvalues;
	uint32		first_right;	/* the first value with right entries */
	uint32		end_left;		/* end of the values with left entries */
	uint32		nequal;			/* next value to pair with itself */

	/* The current range of the join, and the member that is compared with others */
	bool		in_run;
	uint32		range;
	uint32		range_end;
	uint32		range_right;	/* first member with right entries */
	uint32		range_left_end; /* end of the members with left entries */
	uint32		member;
	uint32		compared_from;	/* first of the members that were compared at once */
	uint32		compared_to;	/* the next member to compare */
	int			nmatches;
	int			match;
	uint16		position[COMPARED_AT_ONCE];
	bool		commute;		/* true if the current pair comes again, the other way */

	/* For EXPLAIN */
	uint64		ncompared;		/* number of comparisons */
	double		ndistinct;		/* number of values */
} JoinPairs;

extern void join_pairs_init(JoinPairs *pairs, MemoryContext context);
extern void join_pairs_begin(JoinPairs *pairs, const JoinEntries *left, const JoinEntries *right,
							 const uint8 *matched, JoinPlan *plan, int block);
extern bool join_pairs_next(JoinPairs *pairs, JoinValue **left, JoinValue **right);

/*
 * Return true if a left row needs no other match.
 */
static inline bool
join_pairs_row_done(const JoinPairs *pairs, uint32 row)
{
	return pairs->matched && (pairs->matched[row / 8] >> row % 8 & 1);
}

#endif							/* SIMHASH_JOIN_PAIRS_H */
