/*-------------------------------------------------------------------------
 *
 * weigh.c
 *		Adding a weighted feature to 64 counters
 *
 * One plain loop, compiled for several instruction sets; the compiler makes
 * vector instructions of it (the Makefile asks it to).  On arm64 the portable
 * one has them too, since NEON is always there.
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

#include "digest/weigh.h"

static pg_attribute_always_inline void
weigh_loop(int64 *sum, uint64 hash, int64 weight)
{
	/* all of one width, or gcc does not vectorise */
	for (uint64 bit = 0; bit < 64; bit++)
		sum[bit] += weight & -(int64) ((hash >> bit) & 1);
}

static void
weigh_portable(int64 *sum, uint64 hash, int64 weight)
{
	weigh_loop(sum, hash, weight);
}

static bool
always_available(void)
{
	return true;
}

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_X86_METHODS

__attribute__((target("avx2")))
static void
weigh_avx2(int64 *sum, uint64 hash, int64 weight)
{
	weigh_loop(sum, hash, weight);
}

static bool
avx2_available(void)
{
	return __builtin_cpu_supports("avx2");
}

__attribute__((target("avx512f")))
static void
weigh_avx512(int64 *sum, uint64 hash, int64 weight)
{
	weigh_loop(sum, hash, weight);
}

static bool
avx512_available(void)
{
	return __builtin_cpu_supports("avx512f");
}
#endif

const WeighMethod weigh_methods[] = {
#ifdef HAVE_X86_METHODS
	{"avx512", avx512_available, weigh_avx512},
	{"avx2", avx2_available, weigh_avx2},
#endif
	{"portable", always_available, weigh_portable}
};

const int	weigh_nmethods = lengthof(weigh_methods);

/*
 * The first call chooses, as pg_popcount64 does.
 */
static void
weigh_choose(int64 *sum, uint64 hash, int64 weight)
{
	const WeighMethod *method = weigh_methods;

	while (!method->available())
		method++;
	weigh = method->weigh;
	weigh(sum, hash, weight);
}

WeighFunction weigh = weigh_choose;
