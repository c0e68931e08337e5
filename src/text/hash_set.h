/*-------------------------------------------------------------------------
 *
 * hash_set.h
 *		A set of 64-bit hashes
 *
 * Open addressing with linear probing, at most three quarters full.  Which
 * slot a hash belongs into is salted, so that chosen hashes do not crowd.  A
 * small set needs nothing but itself, on the stack; a larger one memory of the
 * context that is current when it grows.
 *
 *		HashSet		set;
 *
 *		hash_set_init(&set);
 *		if (hash_set_add(&set, hash))
 *			... the first time ...
 *		hash_set_free(&set);
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_HASH_SET_H
#define SIMHASH_HASH_SET_H

#include "text/salt.h"

#define HASH_SET_SMALL_BITS		7
#define HASH_SET_SMALL			(1 << HASH_SET_SMALL_BITS)

typedef struct HashSet
{
	uint64	   *slots;			/* own_slots, or allocated; zero is free */
	int			bits;			/* of a slot's number */
	uint64		count;			/* elements, zero among them */
	uint64		limit;			/* as many of them make it grow */
	bool		has_zero;		/* which no slot can show */
	uint64		own_slots[HASH_SET_SMALL];
} HashSet;

extern void hash_set_init(HashSet *set);
extern void hash_set_free(HashSet *set);
extern void hash_set_grow(HashSet *set);

static inline uint64
hash_set_size(const HashSet *set)
{
	return UINT64CONST(1) << set->bits;
}

/*
 * The slot where a hash other than zero is, or else the one where it belongs.
 */
static inline uint64 *
hash_set_slot(const HashSet *set, uint64 hash)
{
	uint64		mask = hash_set_size(set) - 1;
	uint64		i = salted_hash64(hash) >> (64 - set->bits);

	while (set->slots[i] != hash && set->slots[i] != 0)
		i = (i + 1) & mask;
	return &set->slots[i];
}

/*
 * Add a hash; returns whether it is new.
 */
static inline bool
hash_set_add(HashSet *set, uint64 hash)
{
	uint64	   *slot;

	if (unlikely(hash == 0))
	{
		bool		is_new = !set->has_zero;

		set->has_zero = true;
		set->count += is_new;
		return is_new;
	}
	slot = hash_set_slot(set, hash);
	if (*slot == hash)
		return false;
	*slot = hash;
	if (unlikely(++set->count >= set->limit))
		hash_set_grow(set);
	return true;
}

#endif							/* SIMHASH_HASH_SET_H */
