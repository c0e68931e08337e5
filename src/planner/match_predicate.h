/*
 * Match predicates: tests that estimates apply to pairs of values
 *
 * Copyright (c) 2026, the simhash authors
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
 * A predicate for pairs of values, and bounds for the fraction of pairs for which it
 * holds.
 */
typedef struct MatchPredicate MatchPredicate;

struct MatchPredicate
{
	/* Returns how two values are related. */
	Relationship (*relate) (Datum a, Datum b, const MatchPredicate *match);

	bool		of_equal;		/* true if the predicate holds for equal values */
	double		min_fraction;	/* lower bound: fraction of unrelated pairs for which
								 * the predicate holds */
	double		max_fraction;	/* upper bound of the fraction of pairs, related or
								 * not, for which the predicate holds */

	double		self_pairs;		/* fraction of pairs that are a row and itself, if another
								 * clause excludes them; otherwise 0 */

	/* For fingerprints: the range of distances that match, inclusive, in bits */
	int			low;
	int			high;
};

extern void match_predicate_of_fingerprints(MatchPredicate *match, int low, int high);
extern void match_predicate_of_signatures(MatchPredicate *match);

#endif							/* SIMHASH_MATCH_PREDICATE_H */
