/*
 * The generator splitmix64
 *
 * Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.  Its
 * numbers are frozen, since fingerprints and signatures depend on them.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SPLITMIX_H
#define SIMHASH_SPLITMIX_H

/*
 * Return the value of the finalizer for x.  It is a bijection, so different numbers have
 * different values.
 */
static inline uint64
splitmix64_finalize(uint64 x)
{
	x = (x ^ (x >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

/*
 * Return the next number of a sequence.  Initialize *state with the seed.
 */
static inline uint64
splitmix64_next(uint64 *state)
{
	*state += UINT64CONST(0x9E3779B97F4A7C15);
	return splitmix64_finalize(*state);
}

/*
 * Return a random number from 0 to n - 1.
 */
static inline uint32
draw_below(uint64 *state, uint32 n)
{
	return ((splitmix64_next(state) >> 32) * n) >> 32;
}

#endif							/* SIMHASH_SPLITMIX_H */
