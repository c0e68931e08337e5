/*
 * A list of distinct hashes
 *
 * New hashes are appended to an array until it is full.  Then the array is sorted, and
 * duplicates are dropped.  If more than half of the array remains, its capacity is doubled.
 * So a hash is sorted a few times on average, and the array has a capacity of less
 * than four times the number of distinct hashes.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "digest/hash_list.h"

#define FIRST_CAPACITY	256

#define RS_SORT			sort_hashes
#define RS_SCOPE		static
#define RS_ELEMENT_TYPE	uint64
#define RS_HIGH(a)		(*(a) ^ (UINT64CONST(1) << 63))	/* the order of int64 */
#define RS_LOW(a)		UINT64CONST(0)
#include "radix_sort.h"

/*
 * Initialize an empty set.
 */
void
hash_list_begin(HashList *list)
{
	list->n = 0;
	list->capacity = FIRST_CAPACITY;
	list->hashes = palloc(FIRST_CAPACITY * sizeof(uint64));
}

/*
 * Sort n hashes as signed numbers, and drop duplicates.  Returns the number of distinct
 * hashes.  Authors of texts can choose the hashes, so quicksort could be slow.  Checks for
 * interrupts.
 */
int
sort_distinct(uint64 *hashes, int n)
{
	int			ndistinct = Min(n, 1);

	/* sketches are sorted already */
	while (ndistinct < n && (int64) hashes[ndistinct - 1] < (int64) hashes[ndistinct])
		ndistinct++;
	if (ndistinct == n)
		return n;
	sort_hashes(hashes, n);
	ndistinct = 1;
	for (int i = 1; i < n; i++)
		if (hashes[i] != hashes[ndistinct - 1])
			hashes[ndistinct++] = hashes[i];
	return ndistinct;
}

/*
 * Make space in a full array, by dropping duplicates or by doubling the array.  Returns false
 * if more than HASH_LIST_MAX hashes have to be kept.
 */
bool
hash_list_enlarge(HashList *list)
{
	list->n = sort_distinct(list->hashes, list->n);
	if (list->n <= list->capacity / 2)
		return true;
	if (list->n > HASH_LIST_MAX)
		return false;
	list->capacity *= 2;
	list->hashes = repalloc(list->hashes, list->capacity * sizeof(uint64));
	return true;
}

/*
 * Complete the set: sort hashes[0..n-1] as signed numbers.  Returns false if there are more
 * than HASH_LIST_MAX hashes.
 */
bool
hash_list_finish(HashList *list)
{
	list->n = sort_distinct(list->hashes, list->n);
	return list->n <= HASH_LIST_MAX;
}
