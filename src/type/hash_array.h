/*
 * Sets of hashes: arrays of bigint, and distances from the numbers of their elements
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_HASH_ARRAY_H
#define SIMHASH_HASH_ARRAY_H

#include <math.h>

#ifndef FRONTEND
#include "fmgr.h"
#endif
#include "utils/float.h"

/* Numbers of distinct elements of two arrays, which are not NULL. */
typedef struct Overlap
{
	int			a;
	int			b;
	int			both;			/* number of elements that are in both arrays */
} Overlap;

/*
 * Return the number of distinct elements that are in either array.
 */
static inline int64
overlap_union(const Overlap *overlap)
{
	return (int64) overlap->a + overlap->b - overlap->both;
}

/*
 * Return the fraction of the elements of b that a lacks, or NaN if b has no elements.
 * Computes it by one division, as the index does, so that the results are equal.
 */
static inline float8
containment_distance_of(const Overlap *overlap)
{
	return (float8) (overlap->b - overlap->both) / overlap->b;
}

/*
 * Return the fraction of the elements of a and b that are not in both, or NaN if there are no
 * elements.  Computes it by one division, as the join does, so that the results are equal.
 */
static inline float8
jaccard_distance_of(const Overlap *overlap)
{
	int64		either = overlap_union(overlap);

	return (float8) (either - overlap->both) / either;
}

/*
 * Return the maximum number of a query's n elements that an array may lack to be within a
 * radius of the query, or -1 if no array is within the radius.  It is the same for both
 * distances: an array of these elements alone has the least Jaccard distance.  Divides as
 * the distances do, so that the results agree.  NaN is greater than all numbers, as in
 * PostgreSQL.
 */
static inline int
max_missing(int n, float8 radius)
{
	int			missing = float8_ge(radius, 1) ? n : Max(floor(radius * n), -1);

	while (missing < n && float8_le((float8) (missing + 1) / n, radius))
		missing++;
	while (missing >= 0 && float8_gt((float8) missing / n, radius))
		missing--;
	return missing;
}

/*
 * Return the least number of elements that arrays of a and b elements must share to be
 * within a radius by Jaccard distance.  Divides as the distance does, so that the results
 * agree.  Returns more than the arrays can share if they cannot be within the radius.
 */
static inline int
jaccard_min_both(int a, int b, float8 radius)
{
	Overlap		overlap = {.a = a,.b = b};

	if (a == 0 && b == 0)
		return 1;
	if (float8_ge(radius, 1))
		return 0;
	overlap.both = Min((1 - radius) / (2 - radius) * ((float8) a + b), Min(a, b));
	while (overlap.both > 0 && float8_le(jaccard_distance_of(&overlap), radius))
		overlap.both--;
	while (overlap.both <= Min(a, b) && float8_gt(jaccard_distance_of(&overlap), radius))
		overlap.both++;
	return overlap.both;
}

#ifndef FRONTEND
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
#endif

#endif							/* SIMHASH_HASH_ARRAY_H */
