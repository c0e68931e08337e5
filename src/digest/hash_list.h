/*
 * A list of distinct hashes
 *
 * A list has all hashes that the caller adds.  A repeated hash changes nothing.  The
 * number of distinct hashes bounds the memory.
 *
 *		HashList	list;
 *
 *		hash_list_begin(&list);
 *		fits = hash_list_add(&list, hash);
 *		fits = hash_list_finish(&list);
 *		hash_list_write(&list, array);
 *		hash_list_free(&list);
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

/* Number of hashes that fit into the struct itself. */
#define HASH_LIST_INLINE		256

typedef struct HashList
{
	int			n;				/* number of hashes in the array, perhaps with duplicates */
	int			capacity;
	uint64	   *hashes;			/* inline_hashes, or allocated */
	uint64		inline_hashes[HASH_LIST_INLINE];
} HashList;

extern void hash_list_begin(HashList *list);
extern bool hash_list_enlarge(HashList *list);
extern bool hash_list_finish(HashList *list);
extern void hash_list_write(const HashList *list, int64 *elements);
extern void hash_list_free(HashList *list);

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
