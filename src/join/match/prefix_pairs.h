/*
 * Pairs of entries of two inputs whose prefixes share an element
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PREFIX_PAIRS_H
#define SIMHASH_PREFIX_PAIRS_H

#include "join/store/entries.h"
#include "type/hash_array.h"

/*
 * An entry of an element of a row's prefix (by_prefix.c).  entry.key is the element, combined
 * with the hash value of the equality keys.
 */
typedef struct PrefixEntry
{
	JoinEntry	entry;			/* must be first */
	uint64		previous;		/* the key before this one in the prefix; 0 if position is 0 */
	uint32		size;			/* number of elements of the row */
	uint32		position:31;	/* number of elements of the row that are rarer */
	uint32		beyond_index_prefix:1;	/* 1 if the row can meet only rows with fewer elements
										 * first by this key */
} PrefixEntry;

StaticAssertDecl(sizeof(PrefixEntry) == PREFIX_ENTRY_SIZE, "size of a PrefixEntry");

/* Right entries to pair with a left one, without those that have met already, in ref[]. */
typedef struct PrefixRange
{
	uint32		next;
	uint32		end;			/* (exclusive) */
	uint32		first_met;		/* those that have the same previous key */
	uint32		end_met;		/* (exclusive) */
} PrefixRange;

/* Number of sums of the elements of two rows in the table of PrefixPairs. */
#define SUMS_IN_TABLE		1024

/*
 * An iterator over pairs of a left entry and a right entry that have the same key.
 */
typedef struct PrefixPairs
{
	MemoryContext context;		/* context of the arrays; reset by prefix_pairs_begin() */
	const uint32 *done;			/* bitmap of left rows that need no more matches; NULL if
								 * all left rows need all of their matches */
	bool		is_self;		/* true if the left entries are the right ones, too */
	bool		itself;			/* true if an entry is to be paired with itself then */
	float8		radius;
	int			min_both[SUMS_IN_TABLE];	/* see prefix_pairs_min_both() */
	EntryRefs	left;			/* sorted by 32 bits of the hash values of the keys */
	EntryRefs	right;
	uint64	   *scratch;		/* scratch space for sorting */
	bool		sorted;			/* true if the current lists are sorted by
								 * compare_prefix_entries() */
	uint32		next_left;		/* the current left entry, in ref[] */
	PrefixRange range[2];		/* in the index prefix, and beyond it */
	uint64		ncompared;		/* number of tested pairs, for EXPLAIN */
} PrefixPairs;

/*
 * Return the least number of elements that rows of a and b elements must share to be within the
 * radius.  It depends on a + b alone.
 */
static inline int
prefix_pairs_min_both(const PrefixPairs *pairs, uint32 a, uint32 b)
{
	return a + b < SUMS_IN_TABLE ? pairs->min_both[a + b] : jaccard_min_both(a, b, pairs->radius);
}

extern void prefix_pairs_set_radius(PrefixPairs *pairs, float8 radius);
extern void prefix_pairs_begin(PrefixPairs *pairs, const JoinEntries *left,
							   const JoinEntries *right, const uint32 *done, bool itself);
extern bool prefix_pairs_next(PrefixPairs *pairs, JoinEntry **left, JoinEntry **right);

#endif							/* SIMHASH_PREFIX_PAIRS_H */
