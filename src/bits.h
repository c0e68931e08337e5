/*-------------------------------------------------------------------------
 *
 * bits.h
 *		Bit patterns: the next one, how many there are, and their order as numbers
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_H
#define SIMHASH_BITS_H

/*
 * The next larger number with as many bits set (Gosper).  The number is neither 0
 * nor the last one, whose bits are the highest.
 */
static inline uint64
bits_next_pattern(uint64 pattern)
{
	uint64		lowest = pattern & -pattern;
	uint64		ripple = pattern + lowest;

	return ripple | ((pattern ^ ripple) >> 2) / lowest;
}

/*
 * Number of patterns of nbits bits with at least min_bits and at most max_bits of them
 * set: a sum of binomial coefficients.  Counts no farther than to the limit.
 */
static inline double
bits_count_patterns(int nbits, int min_bits, int max_bits, double limit)
{
	double		combinations = 1;
	double		sum = 0;

	for (int i = 0; i <= max_bits && sum <= limit; i++)
	{
		if (i >= min_bits)
			sum += combinations;
		combinations = combinations * (nbits - i) / (i + 1);
	}
	return sum;
}

/*
 * The order of two uint64, for qsort.
 */
static inline int
bits_compare(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

#endif							/* SIMHASH_BITS_H */
