/*
 * Order of the elements of arrays: the rarest first, then by the elements themselves
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_RARITY_H
#define SIMHASH_RARITY_H

/* An element of an array, to be put in order. */
typedef struct RankedElement
{
	uint32		count;			/* estimated number of rows with the element */
	uint32		index;			/* index in the array */
	int64		element;
} RankedElement;

/*
 * Compare two elements by their counts, then by themselves.
 */
static inline int
rarity_compare(uint32 count_a, int64 a, uint32 count_b, int64 b)
{
	if (count_a != count_b)
		return count_a < count_b ? -1 : 1;
	return (a > b) - (a < b);
}

extern void rarity_sort_first(RankedElement *ranked, int n, int k);

#endif							/* SIMHASH_RARITY_H */
