/*
 * From the set of a text's shingles to a fingerprint
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"

#include "digest/distinct.h"
#include "digest/splitmix.h"

/* Number of bits of a rank by which one pass over the set counts. */
#define DIGIT_BITS		16
#define DIGITS			(1 << DIGIT_BITS)

/* Number of features at which a set is cut down to DISTINCT_MAX features. */
#define DROP_AT			(DISTINCT_MAX + DISTINCT_MAX / 2)

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

/*
 * Initialize an empty set for a text with about `expected` features.
 */
void
distinct_init(DistinctFeatures *features, uint64 expected)
{
	accumulator_init(&features->acc);
	hash_set_init(&features->set, expected);
	features->greatest_rank = RANK_ANY;
}

/*
 * Count the hashes by the next digit of their rank, which begins at bit `shift`.  Counts
 * only hashes whose rank has the same higher digits as `rank`.
 */
static void
count_digits(const HashSet *set, uint64 rank, int shift, uint32 *counts)
{
	HashSetIterator iterator = HASH_SET_FIRST;
	uint64		known = ~UINT64CONST(0) << shift << DIGIT_BITS;	/* none in the first pass */
	uint64		hash;

	memset(counts, 0, DIGITS * sizeof(uint32));
	while (hash_set_next(set, &iterator, &hash))
	{
		uint64		other = rank_of(hash);

		if (((other ^ rank) & known) == 0)
			counts[(other >> shift) % DIGITS]++;
	}
}

/*
 * Return the n-th smallest rank of a set of at least n hashes.  Finds the rank digit by
 * digit, in linear time for any hashes.  Checks for interrupts.
 */
static uint64
find_rank(const HashSet *set, uint64 n)
{
	uint32	   *counts = palloc(DIGITS * sizeof(uint32));
	uint64		rank = 0;

	for (int shift = 64 - DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS)
	{
		uint64		digit = 0;

		CHECK_FOR_INTERRUPTS();
		count_digits(set, rank, shift, counts);
		while (counts[digit] < n)
			n -= counts[digit++];
		rank |= digit << shift;
	}
	pfree(counts);
	return rank;
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
 * Keep only the DISTINCT_MAX features of smallest rank.  Checks for interrupts.
 */
static void
drop_superfluous(DistinctFeatures *features)
{
	uint64	   *kept = palloc(DISTINCT_MAX * sizeof(uint64));
	HashSetIterator iterator = HASH_SET_FIRST;
	uint64		hash;
	int			n = 0;

	features->greatest_rank = find_rank(&features->set, DISTINCT_MAX);
	while (hash_set_next(&features->set, &iterator, &hash))
		if (rank_of(hash) <= features->greatest_rank)
			kept[n++] = hash;

	accumulator_init(&features->acc);
	hash_set_clear(&features->set);
	/* DISTINCT_MAX is a multiple of COUNT_BATCH, so all batches are full */
	for (int i = 0; i < n; i += COUNT_BATCH)
		add_to_set(features, kept + i, COUNT_BATCH);
	pfree(kept);
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
 * Set *fingerprint to the fingerprint of the set, and free the set.  Returns false if the
 * set is empty.
 */
bool
distinct_finish(DistinctFeatures *features, SimHash *fingerprint)
{
	distinct_add_batch(features);
	if (features->set.count > DISTINCT_MAX)
		drop_superfluous(features);
	hash_set_free(&features->set);
	return accumulator_fingerprint(&features->acc, fingerprint);
}
