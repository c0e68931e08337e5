/*
 * Run-time choice of instruction sets
 *
 * A function that gains from vector instructions has several implementations, called
 * methods.  Some are for certain instruction sets, and one is portable.  The first call
 * chooses the best method that the processor supports.  Tests run all methods that the
 * processor supports.  digest/match.c is an example.
 *
 * If the compiler vectorizes the loops, write the methods by one macro.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_CPU_H
#define SIMHASH_CPU_H

#if defined(__x86_64__) && defined(__GNUC__)
#define CPU_X86
#endif

/* A function of unknown type.  The includer casts it to the right type. */
typedef void (*CpuFunction) (void);

typedef struct CpuMethod
{
	const char *name;			/* name of the instruction set that the method needs */
	bool		(*available) (void);
	CpuFunction function;
} CpuMethod;

#define CPU_METHOD(instructions, function) \
	{#instructions, cpu_has_##instructions, (CpuFunction) (function)}

/*
 * Return the function of the best method that this processor supports.  The methods must
 * be sorted, from the best one to the portable one, which comes last.
 */
static inline CpuFunction
cpu_choose(const CpuMethod *methods)
{
	while (!methods->available())
		methods++;
	return methods->function;
}

/*
 * Instruction sets that methods may need.  Each has an attribute for functions that are
 * compiled for it.  cpu_has_*() returns true if the processor supports the instruction
 * set.
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
