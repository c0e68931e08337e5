/*-------------------------------------------------------------------------
 *
 * hash_set.c
 *		A set of 64-bit hashes
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "text/hash_set.h"
#include "text/salt.h"

/* Sets of more buckets than this are not all in the nearest cache. */
#define NEAR_BITS_MAX			11

/* No set is made larger than this before it has elements. */
#define FIRST_BITS_MAX			15

/*
 * Slots for a set, all free.
 */
static uint64 *
make_slots(const HashSet *set)
{
	return palloc_extended(hash_set_size(set) * sizeof(uint64),
						   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/*
 * An empty set, with room for about so many elements as are expected: a guess.
 */
void
hash_set_init(HashSet *set, uint64 expected)
{
	salt_init();
	set->count = 0;
	set->has_zero = false;
	set->bits = HASH_SET_SMALL_BITS;
	while (expected > hash_set_size(set) / 2 && set->bits < FIRST_BITS_MAX)
		set->bits++;
	if (set->bits > HASH_SET_SMALL_BITS)
		set->slots = make_slots(set);
	else
	{
		set->slots = set->inline_slots;
		memset(set->inline_slots, 0, sizeof(set->inline_slots));
	}
}

void
hash_set_free(HashSet *set)
{
	if (set->slots != set->inline_slots)
		pfree(set->slots);
}

/*
 * Forget all elements, and keep the room.
 */
void
hash_set_clear(HashSet *set)
{
	memset(set->slots, 0, hash_set_size(set) * sizeof(uint64));
	set->count = 0;
	set->has_zero = false;
}

/*
 * The first slot of the bucket that a hash belongs into.
 */
static inline uint64
bucket_of(const HashSet *set, uint64 hash)
{
	return (salted_hash64(hash) >> (64 - set->bits)) * HASH_SET_BUCKET;
}

/*
 * Put a hash other than zero into a slot, looking for it from the bucket at `at` on.
 * Returns whether it is new.
 *
 * The only branch is for a bucket full of others, which is rare: texts repeat
 * themselves as they like, so whether a hash is new cannot be predicted.
 */
static inline bool
put(uint64 *slots, uint64 mask, uint64 at, uint64 hash)
{
	for (;;)
	{
		uint64	   *slot = slots + at;
		uint64		found;

		slot += (*slot != hash) & (*slot != 0);
		found = *slot;
		if (likely((found == hash) | (found == 0)))
		{
			*slot = hash;
			return found == 0;
		}
		at = (at + HASH_SET_BUCKET) & mask;
	}
}

/*
 * Make room: four times as much, so that a long text is not moved often.
 */
static void
grow(HashSet *set)
{
	uint64	   *old = set->slots;
	uint64		old_size = hash_set_size(set);

	CHECK_FOR_INTERRUPTS();
	set->bits += 2;
	set->slots = make_slots(set);
	for (uint64 i = 0; i < old_size; i++)
		if (old[i] != 0)
			put(set->slots, hash_set_size(set) - 1, bucket_of(set, old[i]), old[i]);
	if (old != set->inline_slots)
		pfree(old);
}

/*
 * Add n hashes, at most HASH_SET_SMALL.  Those that are new are moved to the beginning;
 * returns their number.
 */
int
hash_set_add(HashSet *set, uint64 *hashes, int n)
{
	uint64		mask;
	int			nfresh = 0;

	if (unlikely(set->count + n > hash_set_size(set) / 2))
		grow(set);
	mask = hash_set_size(set) - 1;
	if (set->bits > NEAR_BITS_MAX)
		for (int i = 0; i < n; i++)
			pg_prefetch(&set->slots[bucket_of(set, hashes[i])]);
	for (int i = 0; i < n; i++)
	{
		uint64		hash = hashes[i];
		bool		is_new;

		if (likely(hash != 0))
			is_new = put(set->slots, mask, bucket_of(set, hash), hash);
		else
		{
			is_new = !set->has_zero;
			set->has_zero = true;
		}
		hashes[nfresh] = hash;
		nfresh += is_new;
	}
	set->count += nfresh;
	return nfresh;
}
