/*-------------------------------------------------------------------------
 *
 * band_pairs.h
 *		Pairs of entries of two inputs that share the key of a band
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BAND_PAIRS_H
#define SIMHASH_BAND_PAIRS_H

#include "join/store/entries.h"

/* One input, sorted by the keys of the current band. */
typedef struct BandSide
{
	const JoinEntries *entries;
	uint64	   *ref;			/* key (upper 32 bits) and index in `entries` of each entry that
								 * has a key; n elements, sorted */
	uint32		n;
	uint32		first;			/* index in ref[] of the first entry with the current key */
	uint32		end;			/* end of the entries with the current key (exclusive) */
} BandSide;

/*
 * An iterator over pairs of a left entry and a right entry.  After the last band, it
 * returns the pairs in which an entry has other parameters, if there are any.
 */
typedef struct JoinBands
{
	MemoryContext context;		/* context of the arrays; reset by join_bands_begin() */
	const uint8 *done;		/* bitmap of left rows that need no more matches; NULL if
								 * all left rows need all of their matches */
	uint64		params;			/* parameters of the entries that have keys */
	int			nbands;
	int			band;			/* the current band; nbands for other parameters */
	int			end_band;		/* (exclusive) */
	BandSide	left;
	BandSide	right;
	uint64	   *scratch;		/* scratch space for sorting */
	uint32		right_other;	/* end of the right entries with the current key and other
								 * parameters (exclusive) */
	uint32		next_left;		/* the next pair, in ref[] */
	uint32		next_right;
	uint64		ncompared;		/* number of tested pairs, for EXPLAIN */
} JoinBands;

/*
 * Return the keys of the bands of an entry, which follow it.
 */
static inline uint32 *
join_band_keys(const JoinEntry *entry)
{
	return (uint32 *) (entry + 1);
}

/*
 * Return true if an entry has other parameters than the entries with keys.
 */
static inline bool
join_bands_is_other(const JoinBands *bands, const JoinEntry *entry)
{
	return entry->key != bands->params;
}

/*
 * Return the key of an entry for a band.  The pairs with other parameters have the hash
 * value of the equality keys as key.  So have entries without keys, which are not paired
 * by it.
 */
static inline uint32
join_bands_key(const JoinBands *bands, const JoinEntry *entry, int band)
{
	return band == bands->nbands || join_bands_is_other(bands, entry) ? entry->hash :
		join_band_keys(entry)[band];
}

extern void join_bands_begin(JoinBands *bands, const JoinEntries *left,
							 const JoinEntries *right, const uint8 *done,
							 int first_band, int end_band);
extern bool join_bands_next(JoinBands *bands, JoinEntry **left, JoinEntry **right);

#endif							/* SIMHASH_BAND_PAIRS_H */
