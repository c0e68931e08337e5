/*-------------------------------------------------------------------------
 *
 * cpu.h
 *		Run-time choice of instructions
 *
 * What is worth vector instructions is written several times, as methods: for
 * some processors, and portably.  The first call chooses the best method that the
 * processor has.  Tests run all that it has.
 *
 *		typedef int (*CountFunction) (const uint64 *words, int n);
 *
 *		const CpuMethod count_methods[] = {
 *		#ifdef CPU_X86
 *			CPU_METHOD(avx2, count_avx2),
 *		#endif
 *			CPU_METHOD(portable, count_portable)
 *		};
 *
 *		static int
 *		count_choose(const uint64 *words, int n)
 *		{
 *			count = (CountFunction) cpu_choose(count_methods);
 *			return count(words, n);
 *		}
 *
 *		CountFunction count = count_choose;
 *
 * A function whose loops the compiler is to make vector instructions of is written
 * once, pg_attribute_always_inline, and called by each method.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CPU_H
#define SIMHASH_CPU_H

#if defined(__x86_64__) && defined(__GNUC__)
#define CPU_X86
#endif

/* Any function; the includer knows its type. */
typedef void (*CpuFunction) (void);

typedef struct CpuMethod
{
	const char *name;			/* of the instructions that it needs */
	bool		(*available) (void);
	CpuFunction function;
} CpuMethod;

#define CPU_METHOD(instructions, function) \
	{#instructions, cpu_has_##instructions, (CpuFunction) (function)}

/*
 * Of methods that stand the best first, the portable one last, the best that this
 * processor has.
 */
static inline CpuFunction
cpu_choose(const CpuMethod *methods)
{
	while (!methods->available())
		methods++;
	return methods->function;
}

/*
 * The instructions that methods may need: for each, the attribute of functions that
 * are compiled with them, and whether the processor has them.
 */
static inline bool
cpu_has_portable(void)
{
	return true;
}

#ifdef CPU_X86

#define CPU_POPCNT			__attribute__((target("popcnt")))
#define CPU_AVX2			__attribute__((target("avx2,popcnt")))
#define CPU_AVX512			__attribute__((target("avx512f,popcnt")))
#define CPU_AVX512_POPCNT	__attribute__((target("avx512f,avx512vpopcntdq,popcnt")))

static inline bool
cpu_has_popcnt(void)
{
	return __builtin_cpu_supports("popcnt");
}

static inline bool
cpu_has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && cpu_has_popcnt();
}

static inline bool
cpu_has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && cpu_has_popcnt();
}

static inline bool
cpu_has_avx512_popcnt(void)
{
	return __builtin_cpu_supports("avx512vpopcntdq") && cpu_has_avx512();
}

#endif							/* CPU_X86 */

#endif							/* SIMHASH_CPU_H */
