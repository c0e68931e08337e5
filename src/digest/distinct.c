/*
 * From the set of a text's shingles to a fingerprint
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "digest/distinct.h"
#include "digest/splitmix.h"
#include "text/salt.h"

/* --- the set of hashes ------------------------------------------------------------ */

/* Sets with more buckets, given as log2, do not fit into the nearest cache. */
#define NEAR_BITS_MAX			11

/* Maximum initial size, as log2 of the buckets. */
#define FIRST_BITS_MAX			15

/*
 * Return the number of slots.
 */
static inline uint64
hash_set_size(const HashSet *set)
{
	return (uint64) HASH_SET_BUCKET << set->bits;
}

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
static void
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
static int
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

/* --- the features ----------------------------------------------------------------- */

/*
 * Number of features at which a set is cut down to DISTINCT_MAX features.  The hash table
 * grows at twice DISTINCT_MAX.
 */
#define DROP_AT			(DISTINCT_MAX + DISTINCT_MAX / 4 * 3)

/*
 * Return the rank of a hash, its position in an order that is independent of the hash's
 * bits.  The order of the hashes themselves would not do, because the smallest hashes all
 * begin with zeros.  No two hashes have the same rank.
 */
static inline uint64
rank_of(uint64 hash)
{
	return splitmix64_finalize(hash);
}

#define RS_SORT			sort_by_rank
#define RS_SCOPE		static
#define RS_ELEMENT_TYPE	uint64
#define RS_HIGH(a)		rank_of(*(a))
#define RS_LOW(a)		UINT64CONST(0)
#include "radix_sort.h"

/*
 * Initialize an empty set for a text with about `expected` features.
 */
void
distinct_init(DistinctFeatures *features, uint64 expected)
{
	memset(&features->acc, 0, sizeof(Accumulator));
	hash_set_init(&features->set, expected);
	features->greatest_rank = RANK_ANY;
}

/*
 * Add hashes[0..n-1] to the set, whatever their ranks are.  hashes[] must have COUNT_BATCH
 * elements, which are overwritten.
 */
static inline void
add_to_set(DistinctFeatures *features, uint64 *hashes, int n)
{
	accumulator_count(&features->acc, hashes, hash_set_add(&features->set, hashes, n));
}

/*
 * Keep only the DISTINCT_MAX features of smallest rank.  Takes linear time for any hashes.
 * Checks for interrupts.
 */
static void
drop_superfluous(DistinctFeatures *features)
{
	HashSet    *set = &features->set;
	uint64	   *hashes = palloc(set->count * sizeof(uint64));
	size_t		n = 0;

	if (set->has_zero)
		hashes[n++] = 0;
	for (uint64 i = 0; i < hash_set_size(set); i++)
		if (set->slots[i] != 0)
			hashes[n++] = set->slots[i];
	memset(set->slots, 0, hash_set_size(set) * sizeof(uint64));
	set->count = 0;
	set->has_zero = false;
	sort_by_rank(hashes, n);
	features->greatest_rank = rank_of(hashes[DISTINCT_MAX - 1]);

	memset(&features->acc, 0, sizeof(Accumulator));
	/* DISTINCT_MAX is a multiple of COUNT_BATCH, so all batches are full */
	for (uint64 i = 0; i < DISTINCT_MAX; i += COUNT_BATCH)
		add_to_set(features, hashes + i, COUNT_BATCH);
	pfree(hashes);
}

/*
 * Add the features of the batch to the set, without those whose rank exceeds
 * greatest_rank.  Empties the batch.
 */
void
distinct_add_batch(DistinctFeatures *features)
{
	Accumulator *acc = &features->acc;
	int			n = acc->nbatch;

	if (unlikely(features->greatest_rank != RANK_ANY))
	{
		n = 0;
		for (int i = 0; i < acc->nbatch; i++)
			if (rank_of(acc->batch[i]) <= features->greatest_rank)
				acc->batch[n++] = acc->batch[i];
	}
	acc->nbatch = 0;
	add_to_set(features, acc->batch, n);
	if (unlikely(features->set.count >= DROP_AT))
		drop_superfluous(features);
}

/*
 * Complete the set, and free it.  Returns the accumulator of its features, which is part of
 * `features`.
 */
Accumulator *
distinct_finish(DistinctFeatures *features)
{
	distinct_add_batch(features);
	if (features->set.count > DISTINCT_MAX)
		drop_superfluous(features);
	if (features->set.slots != features->set.inline_slots)
		pfree(features->set.slots);
	return &features->acc;
}
