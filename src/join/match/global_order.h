/*
 * Global order of the elements of all arrays: the rarest first, then by the elements themselves
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_GLOBAL_ORDER_H
#define SIMHASH_GLOBAL_ORDER_H

/* An element of an array, to be put in the global order. */
typedef struct RankedElement
{
	uint32		count;			/* estimated number of rows with the element */
	uint32		index;			/* index in the array */
	int64		element;
} RankedElement;

/*
 * Compare two elements in the global order: by their counts, then by themselves.
 */
static inline int
global_order_compare(uint32 count_a, int64 a, uint32 count_b, int64 b)
{
	if (count_a != count_b)
		return count_a < count_b ? -1 : 1;
	return (a > b) - (a < b);
}

extern void global_order_sort_first(RankedElement *ranked, int n, int k);

#endif							/* SIMHASH_GLOBAL_ORDER_H */
