/*-------------------------------------------------------------------------
 *
 * splitmix.h
 *		The generator splitmix64
 *
 * Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
 * Part of what is frozen: fingerprints and signatures are made of its numbers.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SPLITMIX_H
#define SIMHASH_SPLITMIX_H

/*
 * The finalizer: a number for each number, no two the same.
 */
static inline uint64
splitmix64_finalize(uint64 x)
{
	x = (x ^ (x >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

/*
 * The next number of a sequence; its state begins with the seed.
 */
static inline uint64
splitmix64_next(uint64 *state)
{
	*state += UINT64CONST(0x9E3779B97F4A7C15);
	return splitmix64_finalize(*state);
}

/*
 * A random number below n.
 */
static inline uint32
draw_below(uint64 *state, uint32 n)
{
	return ((splitmix64_next(state) >> 32) * n) >> 32;
}

#endif							/* SIMHASH_SPLITMIX_H */
