/*-------------------------------------------------------------------------
 *
 * match_predicate.h
 *		Match predicates: tests that estimates apply to pairs of values
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_MATCH_PREDICATE_H
#define SIMHASH_MATCH_PREDICATE_H

/* How two values are related. */
typedef enum Relationship
{
	VALUES_EQUAL,
	VALUES_NEAR,				/* not equal, and the predicate holds */
	VALUES_APART				/* not equal, and the predicate does not hold */
} Relationship;

/*
 * A test for two values, and bounds for the fraction of pairs that pass it.
 */
typedef struct MatchPredicate MatchPredicate;

struct MatchPredicate
{
	/* Compares two values. */
	Relationship (*relate) (Datum a, Datum b, const MatchPredicate *match);

	bool		of_equal;		/* true if the predicate holds for equal values */
	double		min_fraction;	/* fraction of matches among unrelated pairs */
	double		max_fraction;	/* largest fraction of matches among any pairs */

	/* Range of matching distances of fingerprints, inclusive, in bits */
	int			low;
	int			high;
};

extern void match_predicate_of_fingerprints(MatchPredicate *match, int low, int high);
extern void match_predicate_of_signatures(MatchPredicate *match);

#endif							/* SIMHASH_MATCH_PREDICATE_H */
