/*
 * Sorting pairs of 64-bit numbers, on disk if they do not fit into memory
 *
 * For tuplesort, a pair is a uuid.  It has 16 bytes, which are compared in order.  Its
 * abbreviated key is the first number.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PAIR_SORT_H
#define SIMHASH_PAIR_SORT_H

#include "catalog/pg_type_d.h"
#include "port/pg_bswap.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "compat.h"

/* A sort of pairs in ascending order. */
typedef struct PairSort
{
	Tuplesortstate *state;
	bool		sorted;			/* true if no more pairs are added */
	bool		has_next;		/* true if first and second are the next pair */
	uint64		first;
	uint64		second;
} PairSort;

/*
 * Begin a sort, which uses at most `memory` kilobytes, in this context.
 */
static inline PairSort *
pair_sort_begin(MemoryContext context, int memory)
{
	MemoryContext old_context = MemoryContextSwitchTo(context);
	PairSort   *sort = palloc0(sizeof(PairSort));

	sort->state = tuplesort_begin_datum(UUIDOID,
										lookup_type_cache(UUIDOID, TYPECACHE_LT_OPR)->lt_opr,
										InvalidOid, false, memory, NULL, TUPLESORT_NONE);
	MemoryContextSwitchTo(old_context);
	return sort;
}

/*
 * Add a pair to the sort, before the first pair is read.
 */
static inline void
pair_sort_put(PairSort *sort, uint64 first, uint64 second)
{
	pg_uuid_t	uuid;

	first = pg_hton64(first);
	second = pg_hton64(second);
	memcpy(uuid.data, &first, sizeof(first));
	memcpy(uuid.data + sizeof(first), &second, sizeof(second));
	tuplesort_putdatum(sort->state, UUIDPGetDatum(&uuid), false);
}

/*
 * Read the next pair of the sort into it.
 */
static inline void
pair_sort_advance(PairSort *sort)
{
	Datum		datum;

	sort->has_next = tuplesort_getdatum_nocopy(sort->state, &datum);
	if (sort->has_next)
	{
		pg_uuid_t  *uuid = DatumGetUUIDP(datum);

		memcpy(&sort->first, uuid->data, sizeof(uint64));
		memcpy(&sort->second, uuid->data + sizeof(uint64), sizeof(uint64));
		sort->first = pg_ntoh64(sort->first);
		sort->second = pg_ntoh64(sort->second);
		tuplesort_free_datum(datum);
	}
}

/*
 * Return true if there is a next pair, which is then sort->first and sort->second.  The
 * first call sorts the pairs.
 */
static inline bool
pair_sort_peek(PairSort *sort)
{
	if (!sort->sorted)
	{
		tuplesort_performsort(sort->state);
		sort->sorted = true;
		pair_sort_advance(sort);
	}
	return sort->has_next;
}

/*
 * Set *first and *second to the next pair in order.  Returns false after the last pair.
 */
static inline bool
pair_sort_get(PairSort *sort, uint64 *first, uint64 *second)
{
	if (!pair_sort_peek(sort))
		return false;
	*first = sort->first;
	*second = sort->second;
	pair_sort_advance(sort);
	return true;
}

/*
 * End the sort, unless it is NULL.  Frees its memory and its files.
 */
static inline void
pair_sort_end(PairSort *sort)
{
	if (sort == NULL)
		return;
	tuplesort_end(sort->state);
	pfree(sort);
}

#endif							/* SIMHASH_PAIR_SORT_H */
