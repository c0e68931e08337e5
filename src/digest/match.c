/*
 * Comparison of many keys with query keys
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "port/pg_bitutils.h"

#include "compat.h"
#include "digest/match.h"

#ifdef CPU_X86
#include <immintrin.h>
#endif

/*
 * Define a method.  load() returns n keys as a vector, and difference() the bits in which they
 * differ from a query.  near() and none() return a mask of the differences of at most `radius`
 * bits, and of those without any of the given bits.  Masks are mostly 0, so branches are cheap.
 * method_add() compares a query with n keys, at most a vector of them, and adds the matches.
 */
#define MATCH_METHOD(method, attribute, vector, load, difference, near, none) \
attribute static pg_attribute_always_inline int \
method##_add(KeyMatch *matches, int nmatches, const uint64 *queries, int query, \
			 const uint64 *keys, int key, int n, int radius, const MatchRule *rule) \
{ \
	vector		x = difference(load(keys + key, n), queries[query]); \
	uint32		found = near(x, radius) & ((1U << n) - 1); \
 \
	if (found == 0) \
		return nmatches; \
	found &= none(x, rule->same); \
	for (int i = 0; found != 0 && i < rule->ndiffer; i++) \
		found ^= found & none(x, rule->differ[i]); \
	for (; found != 0; found &= found - 1) \
		matches[nmatches++] = (KeyMatch) {query, key + pg_rightmost_one_pos32(found)}; \
	return nmatches; \
} \
 \
attribute static int \
method(const uint64 *queries, int nqueries, const uint64 *keys, int nkeys, \
	   const MatchRule *rule, KeyMatch *matches) \
{ \
	const int	lanes = sizeof(vector) / sizeof(uint64); \
	int			radius = rule->radius; \
	int			nmatches = 0; \
 \
	for (int query = 0; query < nqueries; query++) \
	{ \
		int			key = queries == keys ? query + 1 : 0; \
 \
		for (; key + lanes <= nkeys; key += lanes) \
			nmatches = method##_add(matches, nmatches, queries, query, keys, key, lanes, radius, \
									rule); \
		if (key < nkeys) \
			nmatches = method##_add(matches, nmatches, queries, query, keys, key, nkeys - key, \
									radius, rule); \
	} \
	return nmatches; \
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

#define LOAD_ONE(keys, n) (*(keys))
#define DIFFERENCE_ONE(key, query) ((key) ^ (query))
#define NEAR_PORTABLE(x, radius) (popcount_portable(x) <= (radius))
#define NONE_ONE(x, bits) (((x) & (bits)) == 0)

MATCH_METHOD(match_portable,, uint64, LOAD_ONE, DIFFERENCE_ONE, NEAR_PORTABLE, NONE_ONE)

#ifdef CPU_X86
#define NEAR_POPCNT(x, radius) (__builtin_popcountll(x) <= (radius))

MATCH_METHOD(match_popcnt, CPU_POPCNT, uint64, LOAD_ONE, DIFFERENCE_ONE, NEAR_POPCNT, NONE_ONE)

CPU_AVX2
static inline uint32
mask_avx2(__m256i lanes)
{
	return _mm256_movemask_pd(_mm256_castsi256_pd(lanes));
}

/*
 * Look up the number of bits of each half byte, then add up the bytes (Mula, Kurz and Lemire,
 * "Faster population counts using AVX2 instructions", 2018).
 */
CPU_AVX2
static inline uint32
near_avx2(__m256i x, int radius)
{
	const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
										  0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
	const __m256i half = _mm256_set1_epi8(0x0F);
	__m256i		low = _mm256_shuffle_epi8(bits, _mm256_and_si256(x, half));
	__m256i		high = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16(x, 4), half));
	__m256i		counts = _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());

	return mask_avx2(_mm256_cmpgt_epi64(_mm256_set1_epi64x(radius + 1), counts));
}

#define LOAD_AVX2(keys, n) \
	_mm256_maskload_epi64((const long long *) (keys), \
						  _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3)))
#define DIFFERENCE_AVX2(keys, query) _mm256_xor_si256(keys, _mm256_set1_epi64x(query))
#define NONE_AVX2(x, bits) \
	mask_avx2(_mm256_cmpeq_epi64(_mm256_and_si256(x, _mm256_set1_epi64x(bits)), \
								 _mm256_setzero_si256()))

MATCH_METHOD(match_avx2, CPU_AVX2, __m256i, LOAD_AVX2, DIFFERENCE_AVX2, near_avx2, NONE_AVX2)

#define LOAD_AVX512(keys, n) _mm512_maskz_loadu_epi64((1 << (n)) - 1, keys)
#define DIFFERENCE_AVX512(keys, query) _mm512_xor_si512(keys, _mm512_set1_epi64(query))
#define NEAR_AVX512(x, radius) \
	_mm512_cmple_epi64_mask(_mm512_popcnt_epi64(x), _mm512_set1_epi64(radius))
#define NONE_AVX512(x, bits) _mm512_testn_epi64_mask(x, _mm512_set1_epi64(bits))

MATCH_METHOD(match_avx512, CPU_AVX512_POPCNT, __m512i, LOAD_AVX512, DIFFERENCE_AVX512,
			 NEAR_AVX512, NONE_AVX512)
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
match_choose(const uint64 *queries, int nqueries, const uint64 *keys, int nkeys,
			 const MatchRule *rule, KeyMatch *matches)
{
	match_keys = (MatchFunction) cpu_choose(match_methods);
	return match_keys(queries, nqueries, keys, nkeys, rule, matches);
}

MatchFunction match_keys = match_choose;
