/*-------------------------------------------------------------------------
 *
 * match_predicate.h
 *		The test that estimates apply to two values
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_MATCH_PREDICATE_H
#define SIMHASH_MATCH_PREDICATE_H

/* What one value is to another. */
typedef enum Relationship
{
	VALUES_EQUAL,
	VALUES_NEAR,				/* not equal, and the predicate holds */
	VALUES_APART
} Relationship;

/*
 * Whether a predicate holds for two values, and how often it holds for pairs of values.
 */
typedef struct MatchPredicate MatchPredicate;

struct MatchPredicate
{
	Relationship (*relate) (Datum a, Datum b, const MatchPredicate *match);

	bool		of_equal;		/* whether the predicate holds for equal values */
	double		min_fraction;	/* of pairs of unrelated values that are near */
	double		max_fraction;	/* of any pairs that are near */

	/* Distances of fingerprints, from low to high, inclusive */
	int			low;
	int			high;
};

extern void match_predicate_of_fingerprints(MatchPredicate *match, int low, int high);
extern void match_predicate_of_signatures(MatchPredicate *match);

#endif							/* SIMHASH_MATCH_PREDICATE_H */
