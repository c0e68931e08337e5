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
 * Sort the hashes as signed numbers, and drop duplicates.  Authors of texts can choose the
 * hashes, so quicksort could be slow.
 */
static void
tidy(HashList *list)
{
	uint64	   *hashes = list->hashes;
	int			n = 0;

	sort_hashes(hashes, list->n);
	for (int i = 0; i < list->n; i++)
		if (n == 0 || hashes[i] != hashes[n - 1])
			hashes[n++] = hashes[i];
	list->n = n;
}

/*
 * Make space in a full array, by dropping duplicates or by doubling the array.  Returns false
 * if more than HASH_LIST_MAX hashes have to be kept.
 */
bool
hash_list_enlarge(HashList *list)
{
	tidy(list);
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
	tidy(list);
	return list->n <= HASH_LIST_MAX;
}
