/*-------------------------------------------------------------------------
 *
 * hash_array.h
 *		Sets of hashes: arrays of bigint
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_HASH_ARRAY_H
#define SIMHASH_HASH_ARRAY_H

#include "fmgr.h"

extern int64 *hash_array_elements(Datum value, int *n);

/* The operators that an index answers. */
extern Datum simhash_containment_distance(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_HASH_ARRAY_H */
