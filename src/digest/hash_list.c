/*
 * A list of distinct hashes
 *
 * New hashes are appended to an array until it is full.  Then the array is sorted, and
 * duplicates are dropped.  If more than half of the array remains, its capacity is doubled.
 * So a hash is sorted a few times on average, and an allocated array has a capacity of less
 * than four times the number of distinct hashes.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "digest/hash_list.h"

#define RS_SORT			sort_hashes
#define RS_SCOPE		static
#define RS_ELEMENT_TYPE	uint64
#define RS_HIGH(a)		(*(a))
#define RS_LOW(a)		UINT64CONST(0)
#include "radix_sort.h"

/*
 * Initialize an empty set.
 */
void
hash_list_begin(HashList *list)
{
	list->n = 0;
	list->capacity = HASH_LIST_INLINE;
	list->hashes = list->inline_hashes;
}

static uint64 *
make_hashes(int capacity)
{
	return palloc_extended(capacity * sizeof(uint64), MCXT_ALLOC_HUGE);
}

/*
 * Free the memory of a set.
 */
void
hash_list_free(HashList *list)
{
	if (list->hashes != list->inline_hashes)
		pfree(list->hashes);
}

/*
 * Sort the hashes as unsigned numbers, and drop duplicates.  Authors of texts can choose the
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
	uint64	   *larger;

	tidy(list);
	if (list->n <= list->capacity / 2)
		return true;
	if (list->n > HASH_LIST_MAX)
		return false;
	list->capacity *= 2;
	larger = make_hashes(list->capacity);
	memcpy(larger, list->hashes, list->n * sizeof(uint64));
	hash_list_free(list);
	list->hashes = larger;
	return true;
}

/*
 * Complete the set.  Returns false if it has more than HASH_LIST_MAX hashes.
 */
bool
hash_list_finish(HashList *list)
{
	tidy(list);
	return list->n <= HASH_LIST_MAX;
}

/*
 * Write the elements of a complete set as signed numbers, in ascending order.  Hashes with
 * the highest bit set come first, since they are negative.
 */
void
hash_list_write(const HashList *list, int64 *elements)
{
	int			low = 0;
	int			high = list->n;

	/* search for the number of hashes without the highest bit */
	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (list->hashes[middle] >> 63)
			high = middle;
		else
			low = middle + 1;
	}
	memcpy(elements, list->hashes + low, (list->n - low) * sizeof(int64));
	memcpy(elements + list->n - low, list->hashes, low * sizeof(int64));
}
