/*
 * From the set of a text's shingles to a fingerprint
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"

#include "digest/distinct.h"
#include "digest/splitmix.h"

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
	accumulator_init(&features->acc);
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
	int			n = features->set.count;
	uint64	   *hashes = palloc(n * sizeof(uint64));

	hash_set_move(&features->set, hashes);
	sort_by_rank(hashes, n);
	features->greatest_rank = rank_of(hashes[DISTINCT_MAX - 1]);

	accumulator_init(&features->acc);
	/* DISTINCT_MAX is a multiple of COUNT_BATCH, so all batches are full */
	for (int i = 0; i < DISTINCT_MAX; i += COUNT_BATCH)
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
	hash_set_free(&features->set);
	return &features->acc;
}
