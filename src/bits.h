/*
 * The fingerprint; functions that enumerate, count and compare bit patterns; binary search
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_BITS_H
#define SIMHASH_BITS_H

typedef uint64 SimHash;

#define SIMHASH_BITS		64

/*
 * Bits that a bit permutation moves together: the bits of `mask`, rotated to the left by
 * `shift` bits.
 */
typedef struct BitGroup
{
	uint64		mask;
	int			shift;
} BitGroup;

/* Rotate bits to the left by shift, 0 to 63. */
static inline uint64
bits_rotate_left(uint64 bits, int shift)
{
	return bits << shift | bits >> ((64 - shift) & 63);
}

/*
 * Return the next larger number with the same number of set bits (Gosper's hack).  pattern
 * must not be 0, and must not be the largest number with its number of set bits.
 */
static inline uint64
bits_next_pattern(uint64 pattern)
{
	uint64		lowest = pattern & -pattern;
	uint64		ripple = pattern + lowest;

	return ripple | ((pattern ^ ripple) >> 2) / lowest;
}

/*
 * Return the number of patterns of nbits bits in which min_bits to max_bits bits are set,
 * inclusive.  This is a sum of binomial coefficients.  Stops adding once the sum exceeds
 * `limit`.
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
 * Binary search: set `low` to the first index from low to high - 1 that does not come before the
 * searched one, or to `high` if all come before it.  is_before tests index i.  Changes `high`.
 */
#define FIND_FIRST(low, high, i, is_before) \
	while ((low) < (high)) \
	{ \
		int			i = (low) + ((high) - (low)) / 2; \
		\
		if (is_before) \
			(low) = i + 1; \
		else \
			(high) = i; \
	}

/*
 * Compare two uint64 values, for qsort().
 */
static inline int
bits_compare(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

#endif							/* SIMHASH_BITS_H */
