/*
 * Comparison of many keys with a query key
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "compat.h"
#include "digest/match.h"

#ifdef CPU_X86
#include <immintrin.h>
#endif

/*
 * If the key at position i is within the radius, add its position.  Returns the new number
 * of matches.  There is no branch, because the processor cannot predict which keys match.
 */
static pg_attribute_always_inline int
add_if_near(uint16 *positions, int nmatches, int i, int distance, int radius)
{
	positions[nmatches] = i;
	return nmatches + (distance <= radius);
}

/*
 * Count the bits of x in parallel, in ever wider fields (Warren, "Hacker's Delight",
 * section 5-1).
 */
static inline int
popcount_portable(uint64 x)
{
	x -= (x >> 1) & UINT64CONST(0x5555555555555555);
	x = (x & UINT64CONST(0x3333333333333333)) + ((x >> 2) & UINT64CONST(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64CONST(0x0F0F0F0F0F0F0F0F);
	return (x * UINT64CONST(0x0101010101010101)) >> 56;
}

static int
match_portable(const uint64 *keys, int n, uint64 query, int radius,
			   uint16 *positions)
{
	int			nmatches = 0;

	for (int i = 0; i < n; i++)
		nmatches = add_if_near(positions, nmatches, i,
							   popcount_portable(keys[i] ^ query), radius);
	return nmatches;
}

#ifdef CPU_X86
/*
 * Match the keys from position i on, one by one.  match_popcnt matches all keys in this
 * way.  match_avx2 matches only the last keys in this way, if these are too few to fill a
 * vector.  nmatches is the number of matches before i.  Returns the number of all
 * matches.
 */
CPU_POPCNT
static inline int
match_rest(const uint64 *keys, int i, int n, uint64 query, int radius,
		   uint16 *positions, int nmatches)
{
	for (; i < n; i++)
		nmatches = add_if_near(positions, nmatches, i,
							   __builtin_popcountll(keys[i] ^ query), radius);
	return nmatches;
}

CPU_POPCNT
static int
match_popcnt(const uint64 *keys, int n, uint64 query, int radius,
			 uint16 *positions)
{
	return match_rest(keys, 0, n, query, radius, positions, 0);
}

/*
 * Add the positions of matching keys.  `found` is a bit mask from a vector instruction,
 * and its bit 0 is the key at position i.  Returns the new number of matches.  The mask is
 * mostly 0, so a branch is cheap.
 */
static inline int
add_positions(uint16 *positions, int nmatches, int i, uint32 found)
{
	for (; found != 0; found &= found - 1)
		positions[nmatches++] = i + __builtin_ctz(found);
	return nmatches;
}

/*
 * Match with AVX2.  Looks up the number of bits of each half byte, then adds up the bytes
 * (Mula, Kurz and Lemire, "Faster population counts using AVX2 instructions", 2018).
 */
CPU_AVX2
static int
match_avx2(const uint64 *keys, int n, uint64 query, int radius,
		   uint16 *positions)
{
	const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
										  0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
	const __m256i half = _mm256_set1_epi8(0x0F);
	const __m256i beyond = _mm256_set1_epi64x(radius + 1);
	const __m256i queries = _mm256_set1_epi64x(query);
	int			nmatches = 0;
	int			i = 0;

	for (; i + 4 <= n; i += 4)
	{
		__m256i		x = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *) (keys + i)), queries);
		__m256i		low = _mm256_shuffle_epi8(bits, _mm256_and_si256(x, half));
		__m256i		high = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16(x, 4), half));
		__m256i		counts = _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
		__m256i		found = _mm256_cmpgt_epi64(beyond, counts);

		nmatches = add_positions(positions, nmatches, i,
								 _mm256_movemask_pd(_mm256_castsi256_pd(found)));
	}
	return match_rest(keys, i, n, query, radius, positions, nmatches);
}

CPU_AVX512_POPCNT
static int
match_avx512(const uint64 *keys, int n, uint64 query, int radius,
			 uint16 *positions)
{
	const __m512i radii = _mm512_set1_epi64(radius);
	const __m512i queries = _mm512_set1_epi64(query);
	int			nmatches = 0;
	int			i = 0;

	for (; i + 8 <= n; i += 8)
	{
		__m512i		x = _mm512_xor_si512(_mm512_loadu_si512(keys + i), queries);

		nmatches = add_positions(positions, nmatches, i,
								 _mm512_cmple_epi64_mask(_mm512_popcnt_epi64(x), radii));
	}
	if (i < n)
	{
		__mmask8	rest = (1 << (n - i)) - 1;
		__m512i		x = _mm512_xor_si512(_mm512_maskz_loadu_epi64(rest, keys + i), queries);

		nmatches = add_positions(positions, nmatches, i,
								 _mm512_mask_cmple_epi64_mask(rest, _mm512_popcnt_epi64(x), radii));
	}
	return nmatches;
}
#endif

const CpuMethod match_methods[] = {
#ifdef CPU_X86
	CPU_METHOD(avx512_popcnt, match_avx512),
	CPU_METHOD(avx2, match_avx2),
	CPU_METHOD(popcnt, match_popcnt),
#endif
	CPU_METHOD(portable, match_portable)
};

const int	match_nmethods = lengthof(match_methods);

static int
match_choose(const uint64 *keys, int n, uint64 query, int radius,
			 uint16 *positions)
{
	match_keys = (MatchFunction) cpu_choose(match_methods);
	return match_keys(keys, n, query, radius, positions);
}

MatchFunction match_keys = match_choose;
