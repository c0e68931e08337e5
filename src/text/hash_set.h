/*-------------------------------------------------------------------------
 *
 * hash_set.h
 *		A set of 64-bit hashes
 *
 * Open addressing by buckets of two slots, the first of which fills first, and linear
 * probing from a full bucket to the next; at most half of all slots are taken.  Which
 * bucket a hash belongs into is salted, so that chosen hashes do not crowd.  A small
 * set needs nothing but itself, on the stack; a larger one memory of the context that
 * is current when it grows.
 *
 * Hashes are added in batches: all slots of a large set are fetched before the first
 * one is looked at, so that cache misses overlap.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_HASH_SET_H
#define SIMHASH_HASH_SET_H

#define HASH_SET_BUCKET			2	/* slots */
#define HASH_SET_SMALL_BITS		7
#define HASH_SET_SMALL			(HASH_SET_BUCKET << HASH_SET_SMALL_BITS)

typedef struct HashSet
{
	uint64	   *slots;			/* inline_slots, or allocated; zero is free */
	int			bits;			/* of a bucket's number */
	uint64		count;			/* elements, zero among them */
	bool		has_zero;		/* which no slot can show */
	uint64		inline_slots[HASH_SET_SMALL];
} HashSet;

/* A place in a set whose elements are gone through. */
typedef struct HashSetIterator
{
	uint64		next;			/* slot */
	bool		zero_done;
} HashSetIterator;

#define HASH_SET_FIRST		((HashSetIterator) {0, false})

extern void hash_set_init(HashSet *set, uint64 expected);
extern void hash_set_free(HashSet *set);
extern void hash_set_clear(HashSet *set);
extern int	hash_set_add(HashSet *set, uint64 *hashes, int n);

static inline uint64
hash_set_size(const HashSet *set)
{
	return (uint64) HASH_SET_BUCKET << set->bits;
}

/*
 * The next element, in no order that means anything; false when all have come.
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
