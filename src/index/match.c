/*-------------------------------------------------------------------------
 *
 * match.c
 *		Which of many keys are near the query's
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

#include "index/match.h"

/*
 * No branch: whether a key matches is what cannot be predicted.
 */
#define MATCH_LOOP(popcount) \
	int			nmatches = 0; \
	\
	for (int i = 0; i < n; i++) \
	{ \
		positions[nmatches] = i; \
		nmatches += (int) popcount(keys[i] ^ query) <= radius; \
	} \
	return nmatches

/*
 * Bits counted in parallel, in ever wider fields (Warren, "Hacker's Delight",
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
	MATCH_LOOP(popcount_portable);
}

static bool
always_available(void)
{
	return true;
}

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_X86_METHODS

__attribute__((target("popcnt")))
static int
match_popcnt(const uint64 *keys, int n, uint64 query, int radius,
			 uint16 *positions)
{
	MATCH_LOOP(__builtin_popcountll);
}

static bool
popcnt_available(void)
{
	return __builtin_cpu_supports("popcnt");
}
#endif

const MatchMethod match_methods[] = {
#ifdef HAVE_X86_METHODS
	{"popcnt", popcnt_available, match_popcnt},
#endif
	{"portable", always_available, match_portable}
};

const int	match_nmethods = lengthof(match_methods);

/*
 * The first call chooses.
 */
static int
match_choose(const uint64 *keys, int n, uint64 query, int radius,
			 uint16 *positions)
{
	const MatchMethod *method = match_methods;

	while (!method->available())
		method++;
	match_keys = method->match;
	return match_keys(keys, n, query, radius, positions);
}

MatchFunction match_keys = match_choose;
