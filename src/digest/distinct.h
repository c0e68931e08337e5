/*
 * From the set of a text's shingles to a fingerprint
 *
 * A shingle counts once, however often it occurs.  So repeated text does not outweigh
 * other text.  Examples are a name in the sidebar of a page, and "0 0" in the tables of a
 * page.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_DISTINCT_H
#define SIMHASH_DISTINCT_H

#include "digest/accumulate.h"

/*
 * Maximum number of features that count, so that the memory used does not depend on the
 * text.  If there are more, only the features of smallest rank count (distinct.c).  This
 * choice depends neither on the order of the features nor on how often they occur.  It is
 * part of the definition of the fingerprint.
 */
#define DISTINCT_MAX		(UINT64CONST(1) << 20)

#define RANK_ANY			PG_UINT64_MAX

/*
 * A set of 64-bit hashes
 *
 * Open addressing by buckets of two slots.  The first slot of a bucket is filled first,
 * and a full bucket is followed by the next one (linear probing).  At most half of all
 * slots are used.  The bucket of a hash depends on a salt, so that users cannot choose
 * hashes that collide.  A small set needs only its struct.  A larger set uses memory of
 * the context that is current when the set grows.
 *
 * Hashes are added in batches.  All slots of a batch are prefetched from a large set
 * before the first is read, so that cache misses overlap.
 */
#define HASH_SET_BUCKET			2	/* number of slots of a bucket */
#define HASH_SET_SMALL_BITS		7
#define HASH_SET_SMALL			(HASH_SET_BUCKET << HASH_SET_SMALL_BITS)

typedef struct HashSet
{
	uint64	   *slots;			/* inline_slots, or allocated; a free slot is zero */
	int			bits;			/* log2 of the number of buckets */
	uint64		count;			/* number of elements, including zero */
	bool		has_zero;		/* true if zero, which no slot can store, is an element */
	uint64		inline_slots[HASH_SET_SMALL];
} HashSet;

typedef struct DistinctFeatures
{
	Accumulator acc;			/* counts the features of the set; its batch has the
								 * features to add to the set next */
	uint64		greatest_rank;	/* greatest rank that was kept when features were last
								 * dropped, or RANK_ANY */
	HashSet		set;
} DistinctFeatures;

extern void distinct_init(DistinctFeatures *features, uint64 expected);
extern void distinct_add_batch(DistinctFeatures *features);
extern Accumulator *distinct_finish(DistinctFeatures *features);

/*
 * Add the hash of a feature.  Features with the same hash are one feature.
 */
static inline void
distinct_add(DistinctFeatures *features, uint64 hash)
{
	features->acc.batch[features->acc.nbatch++] = hash;
	if (features->acc.nbatch == COUNT_BATCH)
		distinct_add_batch(features);
}

#endif							/* SIMHASH_DISTINCT_H */
