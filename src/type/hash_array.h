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

#include <math.h>

#include "fmgr.h"
#include "utils/float.h"

extern int64 *hash_array_elements(Datum value, int *n);

extern int	containment_missing(FunctionCallInfo fcinfo, Datum document, Datum passage,
								int *n);
extern bool containment_ball_open(Datum ball, Datum *passage, float8 *radius);

/*
 * How many of a passage's n elements a row may lack within a distance; -1: not even none.
 * That is asked by the division that computes distances, and like PostgreSQL, which takes
 * NaN for the largest number.
 */
static inline int
containment_most_missing(int n, float8 radius)
{
	int			most = float8_ge(radius, 1) ? n : Max(floor(radius * n), -1);

	while (most < n && float8_le((float8) (most + 1) / n, radius))
		most++;
	while (most >= 0 && float8_gt((float8) most / n, radius))
		most--;
	return most;
}

/* The operators that an index answers. */
extern Datum simhash_containment_in_ball(PG_FUNCTION_ARGS);
extern Datum simhash_containment_distance(PG_FUNCTION_ARGS);

/* And that by which the planner recognizes the distance, too. */
extern Datum simhash_containment_distance_of(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_HASH_ARRAY_H */
