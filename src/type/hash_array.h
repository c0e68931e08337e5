/*
 * Sets of hashes: arrays of bigint
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_HASH_ARRAY_H
#define SIMHASH_HASH_ARRAY_H

#include "fmgr.h"

#include "type/overlap.h"

extern int64 *hash_array_elements(Datum value, int *n);
extern bool hash_array_has_nulls(Datum value);

extern bool sketch_ball_open(Datum ball, Datum *center, float8 *radius);

extern Overlap sorted_overlap(const int64 *a, int na, const int64 *b, int nb);
extern Overlap hash_array_overlap(FunctionCallInfo fcinfo, Datum a, Datum b);

/* The functions of operators that an index supports. */
extern Datum simhash_containment_in_ball(PG_FUNCTION_ARGS);
extern Datum simhash_jaccard_in_ball(PG_FUNCTION_ARGS);
extern Datum simhash_sketch_ball_near(PG_FUNCTION_ARGS);
extern Datum simhash_containment_distance(PG_FUNCTION_ARGS);
extern Datum simhash_array_distance(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_HASH_ARRAY_H */
