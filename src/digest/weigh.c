/*
 * Adding a weighted feature to 64 counters
 *
 * There is one plain loop, compiled for several instruction sets.  The Makefile enables
 * vectorization, so the compiler makes vector instructions of the loop.  On arm64 the
 * portable version is vectorized too, since every arm64 processor has NEON.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "compat.h"
#include "digest/simhash.h"
#include "digest/weigh.h"

static pg_attribute_always_inline void
weigh_loop(int64 *sum, uint64 hash, int64 weight)
{
	/*
	 * all operands have the same width, because gcc would not vectorize the loop otherwise
	 */
	for (uint64 bit = 0; bit < SIMHASH_BITS; bit++)
		sum[bit] += weight & -(int64) ((hash >> bit) & 1);
}

static void
weigh_portable(int64 *sum, uint64 hash, int64 weight)
{
	weigh_loop(sum, hash, weight);
}

#ifdef CPU_X86
CPU_AVX2
static void
weigh_avx2(int64 *sum, uint64 hash, int64 weight)
{
	weigh_loop(sum, hash, weight);
}

CPU_AVX512
static void
weigh_avx512(int64 *sum, uint64 hash, int64 weight)
{
	weigh_loop(sum, hash, weight);
}
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
