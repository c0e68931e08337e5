/*
 * Pairs of entries of two inputs that share a rare key
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_RARE_PAIRS_H
#define SIMHASH_RARE_PAIRS_H

#include "join/store/entries.h"

/*
 * An entry of a key of a row's prefix (by_rare_keys.c).  entry.key is the key, combined with
 * the hash value of the equality keys.  entry.hash is 1 + the index of the key in the row's
 * array.
 */
typedef struct RareEntry
{
	JoinEntry	entry;			/* must be first */
	uint64		previous;		/* the key before this one in the prefix; 0 if position is 0 */
	uint32		size;			/* number of elements of the row */
	uint32		position:31;	/* number of elements of the row that are rarer */
	uint32		loose:1;		/* 1 if the row can meet only rows with fewer elements first by
								 * this key */
} RareEntry;

StaticAssertDecl(sizeof(RareEntry) == RARE_ENTRY_SIZE, "size of a RareEntry");

/* Right entries to pair with a left one, without those that have met already, in ref[]. */
typedef struct RareRange
{
	uint32		next;
	uint32		end;			/* (exclusive) */
	uint32		first_met;		/* those that have the same previous key */
	uint32		end_met;		/* (exclusive) */
} RareRange;

/*
 * An iterator over pairs of a left entry and a right entry that have the same key.
 */
typedef struct RarePairs
{
	MemoryContext context;		/* context of the arrays; reset by rare_pairs_begin() */
	const uint8 *done;			/* bitmap of left rows that need no more matches; NULL if
								 * all left rows need all of their matches */
	float8		radius;
	EntryRefs	left;			/* sorted by 32 bits of the hash values of the keys */
	EntryRefs	right;
	uint64	   *scratch;		/* scratch space for sorting */
	bool		sorted;			/* true if the current lists are sorted by
								 * compare_rare_entries() */
	uint32		next_left;		/* the current left entry, in ref[] */
	RareRange	range[2];		/* of entries that are not loose, and of loose ones */
	uint64		ncompared;		/* number of tested pairs, for EXPLAIN */
} RarePairs;

extern void rare_pairs_begin(RarePairs *pairs, const JoinEntries *left,
							 const JoinEntries *right, const uint8 *done, float8 radius);
extern bool rare_pairs_next(RarePairs *pairs, JoinEntry **left, JoinEntry **right);

#endif							/* SIMHASH_RARE_PAIRS_H */
