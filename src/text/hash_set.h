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

/* State of an iteration over the elements. */
typedef struct HashSetIterator
{
	uint64		next;			/* index of the next slot */
	bool		zero_done;
} HashSetIterator;

#define HASH_SET_FIRST		((HashSetIterator) {0, false})

extern void hash_set_init(HashSet *set, uint64 expected);
extern void hash_set_free(HashSet *set);
extern void hash_set_clear(HashSet *set);
extern int	hash_set_add(HashSet *set, uint64 *hashes, int n);

/*
 * Return the number of slots.
 */
static inline uint64
hash_set_size(const HashSet *set)
{
	return (uint64) HASH_SET_BUCKET << set->bits;
}

/*
 * Set *hash to the next element, in arbitrary order.  Returns false after the last
 * element.
 */
static inline bool
hash_set_next(const HashSet *set, HashSetIterator *iterator, uint64 *hash)
{
	while (iterator->next < hash_set_size(set))
	{
		*hash = set->slots[iterator->next++];
		if (*hash != 0)
			return true;
	}
	*hash = 0;
	if (!set->has_zero || iterator->zero_done)
		return false;
	iterator->zero_done = true;
	return true;
}

#endif							/* SIMHASH_HASH_SET_H */
