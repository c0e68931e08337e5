/*-------------------------------------------------------------------------
 *
 * pair_sort.h
 *		Sorting pairs of 64-bit numbers, on disk if they do not fit into memory
 *
 * For tuplesort, a pair is a uuid.  It has 16 bytes, which are compared in order.  Its
 * abbreviated key is the first number.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIR_SORT_H
#define SIMHASH_PAIR_SORT_H

#include "catalog/pg_type_d.h"
#include "port/pg_bswap.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "compat.h"

/*
 * Begin a sort of pairs in ascending order, which uses at most `memory` kilobytes.  The
 * caller must call tuplesort_performsort() after the last pair_sort_put(), and
 * tuplesort_end() at the end.
 */
static inline Tuplesortstate *
pair_sort_begin(int memory)
{
	return tuplesort_begin_datum(UUIDOID,
								 lookup_type_cache(UUIDOID, TYPECACHE_LT_OPR)->lt_opr,
								 InvalidOid, false, memory, NULL, TUPLESORT_NONE);
}

/*
 * Add a pair to the sort.
 */
static inline void
pair_sort_put(Tuplesortstate *sort, uint64 first, uint64 second)
{
	pg_uuid_t	uuid;

	first = pg_hton64(first);
	second = pg_hton64(second);
	memcpy(uuid.data, &first, sizeof(first));
	memcpy(uuid.data + sizeof(first), &second, sizeof(second));
	tuplesort_putdatum(sort, UUIDPGetDatum(&uuid), false);
}

/*
 * Set *first and *second to the next pair in order.  Returns false after the last pair.
 */
static inline bool
pair_sort_get(Tuplesortstate *sort, uint64 *first, uint64 *second)
{
	Datum		datum;
	pg_uuid_t  *uuid;

	if (!tuplesort_getdatum_nocopy(sort, &datum))
		return false;
	uuid = DatumGetUUIDP(datum);
	memcpy(first, uuid->data, sizeof(*first));
	memcpy(second, uuid->data + sizeof(*first), sizeof(*second));
	*first = pg_ntoh64(*first);
	*second = pg_ntoh64(*second);
	tuplesort_free_datum(datum);
	return true;
}

#endif							/* SIMHASH_PAIR_SORT_H */
