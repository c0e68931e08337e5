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
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_HASH_SET_H
#define SIMHASH_HASH_SET_H

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

extern void hash_set_init(HashSet *set, uint64 expected);
extern void hash_set_free(HashSet *set);
extern void hash_set_move(HashSet *set, uint64 *hashes);
extern int	hash_set_add(HashSet *set, uint64 *hashes, int n);

/*
 * Return the number of slots.
 */
static inline uint64
hash_set_size(const HashSet *set)
{
	return (uint64) HASH_SET_BUCKET << set->bits;
}

#endif							/* SIMHASH_HASH_SET_H */
