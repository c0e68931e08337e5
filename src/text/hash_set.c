/*
 * A set of 64-bit hashes
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "text/hash_set.h"
#include "text/salt.h"

/* Sets with more buckets, given as log2, do not fit into the nearest cache. */
#define NEAR_BITS_MAX			11

/* Maximum initial size, as log2 of the buckets. */
#define FIRST_BITS_MAX			15

/*
 * Allocate the slots of a set, all free.
 */
static uint64 *
make_slots(const HashSet *set)
{
	return palloc_extended(hash_set_size(set) * sizeof(uint64),
						   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/*
 * Initialize an empty set.  `expected` is an estimate of the number of elements.
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

/*
 * Free the memory of a set.
 */
void
hash_set_free(HashSet *set)
{
	if (set->slots != set->inline_slots)
		pfree(set->slots);
}

/*
 * Move all elements to hashes[], in arbitrary order.  Keeps the slots.
 */
void
hash_set_move(HashSet *set, uint64 *hashes)
{
	if (set->has_zero)
		*hashes++ = 0;
	for (uint64 i = 0; i < hash_set_size(set); i++)
		if (set->slots[i] != 0)
			*hashes++ = set->slots[i];
	memset(set->slots, 0, hash_set_size(set) * sizeof(uint64));
	set->count = 0;
	set->has_zero = false;
}

/*
 * Return the first slot of the bucket of a hash.
 */
static inline uint64
bucket_of(const HashSet *set, uint64 hash)
{
	return (salted_hash64(hash) >> (64 - set->bits)) * HASH_SET_BUCKET;
}

/*
 * Add a hash other than zero, searching from the bucket at slot `at` on.  Returns true if
 * the hash is new.
 *
 * The only branch is for a bucket full of other hashes, which is rare.  A branch on
 * whether a hash is new could not be predicted, because any hash of a text may be a
 * repetition.
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
 * Enlarge a set fourfold, so that the hashes of a long text are not moved often.  Checks
 * for interrupts.
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
 * Add n hashes to the set.  n must not exceed HASH_SET_SMALL.  Moves the hashes that were
 * not in the set to the front of hashes[], and returns their number.
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
