/*-------------------------------------------------------------------------
 *
 * accumulate.c
 *		From hashed features to a fingerprint
 *
 * Charikar, "Similarity estimation techniques from rounding algorithms",
 * 2002, with the hash of each feature in place of a random vector, as
 * Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling",
 * 2007: each feature adds its weight to the counters of the bits set in its
 * hash and subtracts it from the others; the signs are the fingerprint.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifdef FRONTEND
#include "postgres_fe.h"
#else
#include "postgres.h"
#endif

#include "text/accumulate.h"

void
accumulator_init(Accumulator *acc)
{
	memset(acc, 0, offsetof(Accumulator, batch));
}

static inline void
add_to_counters(Accumulator *acc, uint64 hash, int64 weight)
{
	for (int bit = 0; bit < FINGERPRINT_BITS; bit++)
		acc->sum[bit] += weight & -(int64) ((hash >> bit) & 1);
}

/*
 * Count the features that wait in the batch.
 */
void
accumulator_count_batch(Accumulator *acc)
{
	for (int i = 0; i < acc->nbatch; i++)
		add_to_counters(acc, acc->batch[i], WEIGHT_ONE);
	acc->total += acc->nbatch * WEIGHT_ONE;
	acc->magnitude += acc->nbatch * WEIGHT_ONE;
	acc->nbatch = 0;
}

/*
 * Add a feature; weight in units of 1/WEIGHT_ONE, either sign.  Returns
 * false, and adds nothing, if the weights have grown too large.
 */
bool
accumulator_add_weighted(Accumulator *acc, uint64 hash, int64 weight)
{
	uint64		magnitude = weight < 0 ? -(uint64) weight : (uint64) weight;

	if (magnitude > MAGNITUDE_MAX ||
		acc->magnitude > MAGNITUDE_MAX - magnitude)
		return false;
	add_to_counters(acc, hash, weight);
	acc->total += weight;
	acc->magnitude += magnitude;
	return true;
}

/*
 * Add all features of another accumulator.  Returns false, and adds nothing,
 * if the weights have grown too large.
 */
bool
accumulator_merge(Accumulator *acc, Accumulator *other)
{
	accumulator_count_batch(acc);
	accumulator_count_batch(other);
	if (acc->magnitude > MAGNITUDE_MAX ||
		other->magnitude > MAGNITUDE_MAX - acc->magnitude)
		return false;
	for (int bit = 0; bit < FINGERPRINT_BITS; bit++)
		acc->sum[bit] += other->sum[bit];
	acc->total += other->total;
	acc->magnitude += other->magnitude;
	return true;
}

/*
 * The signs of the counters; a tie gives 0.  Returns false if no feature had
 * any weight: nothing is known then, and a fingerprint of zeros would make
 * near-duplicates of all such documents.
 */
bool
accumulator_fingerprint(Accumulator *acc, uint64 *fingerprint)
{
	accumulator_count_batch(acc);
	*fingerprint = 0;
	for (int bit = 0; bit < FINGERPRINT_BITS; bit++)
		if (acc->sum[bit] > acc->total - acc->sum[bit])
			*fingerprint |= UINT64CONST(1) << bit;
	return acc->magnitude > 0;
}
