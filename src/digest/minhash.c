/*
 * From hashed features to the minima of a signature
 *
 * The i-th rank of a hash h is the upper half of a * h modulo 2^64.  The odd multiplier a
 * belongs to the i-th minimum (multiply-shift: Dietzfelbinger, Hagerup, Katajainen and
 * Penttonen, "A reliable randomized algorithm for the closest-pair problem", 1997).
 * Multiply-shift needs hashes that look random, as the hashes of texts do.  The ranks and
 * the keys of bands are frozen, since signatures and keys are stored: docs/specification.md.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include <math.h>

#include "port/pg_bswap.h"

#include "digest/minhash.h"
#include "digest/splitmix.h"
#include "text/hash.h"

#ifdef CPU_X86
#include <immintrin.h>
#endif

/*
 * The multipliers, by minimum.  Lower and upper halves are in separate arrays, so that
 * vectors of either can be loaded.
 */
static uint32 multiplier_low[MINIMA_MAX];
static uint32 multiplier_high[MINIMA_MAX];

/*
 * Compute all multipliers.
 */
static void
make_multipliers(void)
{
	uint64		state = 0;

	for (int i = 0; i < MINIMA_MAX; i++)
	{
		uint64		multiplier = splitmix64_next(&state) | 1;

		multiplier_low[i] = (uint32) multiplier;
		multiplier_high[i] = multiplier >> 32;
	}
}

static void
lower_portable(uint32 *minima, int n, const uint64 *hashes, int nhashes)
{
	for (int i = 0; i < n; i++)
	{
		uint64		multiplier = (uint64) multiplier_high[i] << 32 | multiplier_low[i];
		uint32		minimum = minima[i];

		for (int j = 0; j < nhashes; j++)
		{
			uint32		rank = (multiplier * hashes[j]) >> 32;

			minimum = Min(minimum, rank);
		}
		minima[i] = minimum;
	}
}

#ifdef CPU_X86
/*
 * With vectors of 32-bit lanes, the upper half of a product is
 *
 *		upper(low * hash_low) + low * hash_high + high * hash_low
 *
 * The first multiplication takes every second lane, so there are two of them.  `blend`
 * joins their results, `even` and `odd`.  The last vector of minima overlaps the one before
 * it, so some minima are computed twice.
 */
#define VECTOR(bits, operation)	_mm##bits##_##operation

#define LOWER_METHOD(name, target, bits, blend) \
	target \
	static void \
	name(uint32 *minima, int n, const uint64 *hashes, int nhashes) \
	{ \
		typedef __m##bits##i Vector; \
		const int	lanes = sizeof(Vector) / sizeof(uint32); \
		\
		if (n < lanes) \
		{ \
			lower_portable(minima, n, hashes, nhashes); \
			return; \
		} \
		for (int next = 0; next < n; next += lanes) \
		{ \
			int			i = Min(next, n - lanes); \
			Vector		minimum = VECTOR(bits, loadu_si##bits)((const Vector *) (minima + i)); \
			Vector		low = VECTOR(bits, loadu_si##bits)((const Vector *) (multiplier_low + i)); \
			Vector		high = VECTOR(bits, loadu_si##bits)((const Vector *) (multiplier_high + i)); \
			Vector		odd_low = VECTOR(bits, srli_epi64)(low, 32); \
			\
			for (int j = 0; j < nhashes; j++) \
			{ \
				Vector		hash_low = VECTOR(bits, set1_epi32)((uint32) hashes[j]); \
				Vector		hash_high = VECTOR(bits, set1_epi32)(hashes[j] >> 32); \
				Vector		even = VECTOR(bits, srli_epi64)(VECTOR(bits, mul_epu32)(low, hash_low), 32); \
				Vector		odd = VECTOR(bits, mul_epu32)(odd_low, hash_low); \
				Vector		rank = blend; \
				\
				rank = VECTOR(bits, add_epi32)(rank, VECTOR(bits, mullo_epi32)(low, hash_high)); \
				rank = VECTOR(bits, add_epi32)(rank, VECTOR(bits, mullo_epi32)(high, hash_low)); \
				minimum = VECTOR(bits, min_epu32)(minimum, rank); \
			} \
			VECTOR(bits, storeu_si##bits)((Vector *) (minima + i), minimum); \
		} \
	}

LOWER_METHOD(lower_avx2, CPU_AVX2, 256, _mm256_blend_epi32(even, odd, 0xAA))
LOWER_METHOD(lower_avx512, CPU_AVX512, 512, _mm512_mask_blend_epi32(0xAAAA, even, odd))

#endif							/* CPU_X86 */

const CpuMethod minima_lower_methods[] = {
#ifdef CPU_X86
	CPU_METHOD(avx512, lower_avx512),
	CPU_METHOD(avx2, lower_avx2),
#endif
	CPU_METHOD(portable, lower_portable)
};

const int	minima_lower_nmethods = lengthof(minima_lower_methods);

/*
 * Compute the multipliers, choose the best method and call it.
 */
static void
lower_choose(uint32 *minima, int n, const uint64 *hashes, int nhashes)
{
	make_multipliers();
	minima_lower = (LowerFunction) cpu_choose(minima_lower_methods);
	minima_lower(minima, n, hashes, nhashes);
}

LowerFunction minima_lower = lower_choose;

/*
 * Initialize minima[0..n-1] to the minima of the empty set.  n, the length of the
 * signature, is 1 to MINIMA_MAX.
 */
void
minima_begin(MinimaBuilder *builder, uint32 *minima, int n)
{
	for (int i = 0; i < n; i++)
		minima[i] = MINIMUM_OF_NONE;
	builder->minima = minima;
	builder->n = n;
	builder->any = false;
	builder->nbatch = 0;
}

/*
 * Add the features of the batch.  Empties the batch.
 */
void
minima_add_batch(MinimaBuilder *builder)
{
	if (builder->nbatch == 0)
		return;
	minima_lower(builder->minima, builder->n, builder->batch, builder->nbatch);
	builder->any = true;
	builder->nbatch = 0;
}

/*
 * Add the features of the batch, to complete the minima.  Returns false if no feature was
 * ever added, so that the minima say nothing about a set.
 */
bool
minima_finish(MinimaBuilder *builder)
{
	minima_add_batch(builder);
	return builder->any;
}

/*
 * Replace the minima of a set by the minima of the union of this set and another set.
 */
void
minima_unite(uint32 *minima, const uint32 *other, int n)
{
	for (int i = 0; i < n; i++)
		minima[i] = Min(minima[i], other[i]);
}

/*
 * Return the number of minima that are equal in two signatures of length n.
 */
int
minima_count_equal(const uint32 *a, const uint32 *b, int n)
{
	uint32		equal = 0;

	for (int i = 0; i < n; i++)
		equal += a[i] == b[i];
	return equal;
}

/*
 * Return the number of minima of `a` that are less than or equal to those of `b`.  In the
 * orders of these minima, the first feature of the union is a feature of a.
 */
int
minima_count_first(const uint32 *a, const uint32 *b, int n)
{
	uint32		first = 0;

	for (int i = 0; i < n; i++)
		first += a[i] <= b[i];
	return first;
}

/*
 * Estimate the number of distinct features, at least 1.
 *
 * If u is the minimum of m random numbers from 0 to 1, -ln(1 - u) is exponentially
 * distributed with rate m.  With n such minima, (n - 1) / sum estimates m without bias,
 * with a relative error of 1 / sqrt(n - 2) (Cohen, "Size-estimation framework with
 * applications to transitive closure and reachability", 1997).
 */
double
minima_cardinality(const uint32 *minima, int n)
{
	double		sum = 0;

	for (int i = 0; i < n; i++)
		sum -= log1p(-(minima[i] + 0.5) / (PG_UINT32_MAX + 1.0));
	return Max(1, (n - 1) / sum);
}

/*
 * Return true if two signatures share a band, that is, if all minima of at least one band
 * are equal.
 */
bool
minima_share_band(const uint32 *a, const uint32 *b, int bands, int rows)
{
	for (int i = 0; i < bands * rows; i += rows)
		if (memcmp(a + i, b + i, rows * sizeof(uint32)) == 0)
			return true;
	return false;
}

static inline uint32
little_endian(uint32 number)
{
#ifdef WORDS_BIGENDIAN
	return pg_bswap32(number);
#else
	return number;
#endif
}

/*
 * Return the key of a band, whose number is 0 to bands - 1.  The key is XXH3 of the band's
 * number and the band's minima, as 32-bit numbers, least significant byte first.  rows is
 * 1 to MINIMA_MAX_ROWS.  Two signatures have the key of a band in common if they share the
 * band.
 */
uint64
minima_band_key(const uint32 *minima, int band, int rows)
{
	uint32		input[1 + MINIMA_MAX_ROWS];

	input[0] = little_endian(band);
	for (int i = 0; i < rows; i++)
		input[1 + i] = little_endian(minima[band * rows + i]);
	return hash_feature((const char *) input, (1 + rows) * sizeof(uint32));
}
