/*
 * A list of distinct hashes
 *
 * A list has all hashes that the caller adds.  A repeated hash changes nothing.  The
 * number of distinct hashes bounds the memory.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_HASH_LIST_H
#define SIMHASH_HASH_LIST_H

/*
 * Maximum number of elements of a list, which take 256 MB.  Tests define a lower number.
 */
#ifndef HASH_LIST_MAX
#define HASH_LIST_MAX			(1 << 25)
#endif

typedef struct HashList
{
	int			n;				/* number of hashes in the array, perhaps with duplicates */
	int			capacity;
	uint64	   *hashes;			/* allocated; the caller frees it */
} HashList;

extern int	sort_distinct(uint64 *hashes, int n);
extern void hash_list_begin(HashList *list);
extern bool hash_list_enlarge(HashList *list);
extern bool hash_list_finish(HashList *list);

/*
 * Add a hash.  Returns false if more than HASH_LIST_MAX hashes have to be kept.
 */
static inline bool
hash_list_add(HashList *list, uint64 hash)
{
	list->hashes[list->n++] = hash;
	return list->n < list->capacity || hash_list_enlarge(list);
}

#endif							/* SIMHASH_HASH_LIST_H */
