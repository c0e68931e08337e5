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
extern bool hash_array_has_nulls(Datum value);

extern int	containment_missing(FunctionCallInfo fcinfo, Datum document, Datum passage,
								int *n);
extern bool containment_ball_open(Datum ball, Datum *passage, float8 *radius);

/*
 * Return the maximum number of a passage's n elements that a document may lack to be
 * within a radius, or -1 if no document is within the radius.  Divides as
 * containment_distance() does, so that the results agree.  NaN is greater than all
 * numbers, as in PostgreSQL.
 */
static inline int
containment_max_missing(int n, float8 radius)
{
	int			max_missing = float8_ge(radius, 1) ? n : Max(floor(radius * n), -1);

	while (max_missing < n && float8_le((float8) (max_missing + 1) / n, radius))
		max_missing++;
	while (max_missing >= 0 && float8_gt((float8) max_missing / n, radius))
		max_missing--;
	return max_missing;
}

/* The functions of operators that an index supports. */
extern Datum simhash_containment_in_ball(PG_FUNCTION_ARGS);
extern Datum simhash_containment_distance(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_HASH_ARRAY_H */
