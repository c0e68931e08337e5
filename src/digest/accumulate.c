/*
 * From hashed features to a fingerprint
 *
 * Charikar, "Similarity estimation techniques from rounding algorithms", 2002, with the
 * hash of each feature in place of a random vector, as in Manku, Jain and Das Sarma,
 * "Detecting near-duplicates for web crawling", 2007.  Each feature adds its weight to
 * the counters of the bits set in its hash and subtracts it from the other counters.  The
 * signs of the counters are the fingerprint.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "digest/accumulate.h"

/*
 * Carry-save adders, as in Harley and Seal's population count, but with the bits of each
 * position kept apart ("positional population count"; Klarqvist, Mula and Lemire,
 * "Efficient computation of positional population counts using SIMD instructions", 2019).
 * Each function adds 2^k hashes to k planes, and returns the carry, of weight 2^k.
 */
static inline uint64
add_1_plane(uint64 *plane, uint64 a, uint64 b)
{
	uint64		half = *plane ^ a;
	uint64		carry = (*plane & a) | (half & b);

	*plane = half ^ b;
	return carry;
}

#define ADD_TWICE(name, add_half, half, level) \
	static inline uint64 \
	name(uint64 *plane, const uint64 *hashes) \
	{ \
		uint64		a = add_half(plane, hashes); \
		uint64		b = add_half(plane, hashes + half); \
		\
		return add_1_plane(&plane[level], a, b); \
	}

static inline uint64
add_2(uint64 *plane, const uint64 *hashes)
{
	return add_1_plane(plane, hashes[0], hashes[1]);
}

ADD_TWICE(add_4, add_2, 2, 1)
ADD_TWICE(add_8, add_4, 4, 2)
ADD_TWICE(add_16, add_8, 8, 3)

/*
 * Count n features with the hashes hashes[0..n-1], each with weight 1.  hashes[] must have
 * COUNT_BATCH elements.  The elements from n on are overwritten.
 */
void
accumulator_count(Accumulator *acc, uint64 *hashes, int n)
{
	uint64		carry;

	/* zeros do not change any counter */
	for (int i = n; i < COUNT_BATCH; i++)
		hashes[i] = 0;
	carry = add_16(acc->plane, hashes);
	for (int i = 4; carry != 0 && i < COUNT_PLANES; i++)
	{
		uint64		next = acc->plane[i] & carry;

		acc->plane[i] ^= carry;
		carry = next;
	}
	acc->count += n;
}

/*
 * Count the features of the batch.  Empties the batch.
 */
void
accumulator_count_batch(Accumulator *acc)
{
	accumulator_count(acc, acc->batch, acc->nbatch);
	acc->nbatch = 0;
}

/*
 * Add the counts of the features of weight 1 to the weighted sums, and reset these counts.
 */
static void
fold_counts(Accumulator *acc)
{
	accumulator_count_batch(acc);
	for (int i = 0; i < COUNT_PLANES && acc->count >> i != 0; i++)
	{
		for (int bit = 0; bit < SIMHASH_BITS; bit++)
			acc->sum[bit] += ((acc->plane[i] >> bit) & 1) * (WEIGHT_ONE << i);
		acc->plane[i] = 0;
	}
	acc->total += acc->count * WEIGHT_ONE;
	acc->magnitude += acc->count * WEIGHT_ONE;
	acc->count = 0;
}

/*
 * The plain loop of weigh(), compiled for several instruction sets.  The Makefile enables
 * vectorization, so the compiler makes vector instructions of the loop.  On arm64 the
 * portable version is vectorized too, since every arm64 processor has NEON.  All operands
 * have the same width, because gcc would not vectorize the loop otherwise.
 */
#define WEIGH_METHOD(name, target) \
	target \
	static void \
	name(int64 *sum, uint64 hash, int64 weight) \
	{ \
		for (uint64 bit = 0; bit < SIMHASH_BITS; bit++) \
			sum[bit] += weight & -(int64) ((hash >> bit) & 1); \
	}

WEIGH_METHOD(weigh_portable,)
#ifdef CPU_X86
WEIGH_METHOD(weigh_avx2, CPU_AVX2)
WEIGH_METHOD(weigh_avx512, CPU_AVX512)
#endif

const CpuMethod weigh_methods[] = {
#ifdef CPU_X86
	CPU_METHOD(avx512, weigh_avx512),
	CPU_METHOD(avx2, weigh_avx2),
#endif
	CPU_METHOD(portable, weigh_portable)
};

const int	weigh_nmethods = lengthof(weigh_methods);

/*
 * Choose the best method and call it.
 */
static void
weigh_choose(int64 *sum, uint64 hash, int64 weight)
{
	weigh = (WeighFunction) cpu_choose(weigh_methods);
	weigh(sum, hash, weight);
}

WeighFunction weigh = weigh_choose;

/*
 * Add a feature.  Its weight is in units of 1/WEIGHT_ONE, and may be negative.  Returns
 * false, and adds nothing, if the sum of absolute weights would exceed MAGNITUDE_MAX.
 */
bool
accumulator_add_weighted(Accumulator *acc, uint64 hash, int64 weight)
{
	uint64		magnitude = weight < 0 ? -(uint64) weight : (uint64) weight;

	if (magnitude > MAGNITUDE_MAX ||
		acc->magnitude > MAGNITUDE_MAX - magnitude)
		return false;
	weigh(acc->sum, hash, weight);
	acc->total += weight;
	acc->magnitude += magnitude;
	return true;
}

/*
 * Add all features of another accumulator.  Returns false, and adds nothing, if the sum of
 * absolute weights would exceed MAGNITUDE_MAX.  Moves the counts of both accumulators to
 * their weighted sums.
 */
bool
accumulator_merge(Accumulator *acc, Accumulator *other)
{
	fold_counts(acc);
	fold_counts(other);
	if (acc->magnitude > MAGNITUDE_MAX ||
		other->magnitude > MAGNITUDE_MAX - acc->magnitude)
		return false;
	for (int bit = 0; bit < SIMHASH_BITS; bit++)
		acc->sum[bit] += other->sum[bit];
	acc->total += other->total;
	acc->magnitude += other->magnitude;
	return true;
}

/*
 * Return the bits that more than half of the features of weight 1 have set.  Compares the
 * bit-sliced counts with half of the number of features, from the highest plane down.
 */
static SimHash
majority(const Accumulator *acc)
{
	uint64		half = acc->count / 2;
	uint64		greater = 0;
	uint64		equal = ~UINT64CONST(0);

	for (int i = COUNT_PLANES - 1; i >= 0; i--)
	{
		uint64		plane = acc->plane[i];
		uint64		bit = -((half >> i) & 1);

		greater |= equal & plane & ~bit;
		equal &= ~(plane ^ bit);
	}
	return greater;
}

/*
 * Return the signs of the weighted counters.
 */
static SimHash
signs(const Accumulator *acc)
{
	SimHash		fingerprint = 0;

	for (int bit = 0; bit < SIMHASH_BITS; bit++)
		if (acc->sum[bit] > acc->total - acc->sum[bit])
			fingerprint |= UINT64CONST(1) << bit;
	return fingerprint;
}

/*
 * Set *fingerprint to the signs of the counters.  If a counter is zero, a tie, its bit is
 * 0.  Returns false if the absolute weight of all features is zero.  A fingerprint of
 * zeros would make all such documents near-duplicates.
 */
bool
accumulator_fingerprint(Accumulator *acc, SimHash *fingerprint)
{
	accumulator_count_batch(acc);
	if (acc->magnitude == 0)
	{
		*fingerprint = majority(acc);
		return acc->count > 0;
	}
	fold_counts(acc);
	*fingerprint = signs(acc);
	return true;
}
