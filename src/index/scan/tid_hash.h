/*
 * Hash table of TIDs within work_mem
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_TID_HASH_H
#define SIMHASH_TID_HASH_H

#include "common/hashfn.h"
#include "miscadmin.h"

#include "index/tree/page.h"

/* An element of the hash table.  A TidSet uses no counts. */
typedef struct TidCount
{
	uint64		tid;			/* tid_number */
	uint32		count;			/* number of hits */
	char		status;			/* for simplehash */
} TidCount;

#define SH_PREFIX			tids
#define SH_ELEMENT_TYPE		TidCount
#define SH_KEY_TYPE			uint64
#define SH_KEY				tid
#define SH_HASH_KEY(tb, key) hash_combine(murmurhash32((uint32) (key)), murmurhash32((key) >> 32))
#define SH_EQUAL(tb, a, b)	((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * Return the number of TIDs that fit into work_mem if each needs `extra` more bytes.  While
 * the hash table grows, the old table of half its size still exists.
 */
static inline uint64
tid_hash_max(Size extra)
{
	return work_mem * UINT64CONST(1024) / (3 * sizeof(TidCount) + extra);
}

#endif							/* SIMHASH_TID_HASH_H */
