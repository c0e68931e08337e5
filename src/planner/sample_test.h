/*
 * Tests of pairs of sampled values
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SAMPLE_TEST_H
#define SIMHASH_SAMPLE_TEST_H

/* How two values are related. */
typedef enum Relationship
{
	VALUES_EQUAL,
	VALUES_NEAR,				/* not equal, and the test holds */
	VALUES_APART				/* not equal, and the test does not hold */
} Relationship;

/*
 * A test of pairs of values, and bounds for the fraction of pairs for which it
 * holds.
 */
typedef struct SampleTest SampleTest;

struct SampleTest
{
	/* Returns how two values are related. */
	Relationship (*relate) (Datum a, Datum b, const SampleTest *test);

	bool		of_equal;		/* true if the test holds for equal values */
	double		min_fraction;	/* lower bound: fraction of unrelated pairs for which
								 * the test holds */
	double		max_fraction;	/* upper bound of the fraction of pairs, related or
								 * not, for which the test holds */

	double		self_pairs;		/* fraction of pairs that are a row and itself, if another
								 * clause excludes them; otherwise 0 */

	/* For fingerprints: the distances for which the test holds, inclusive, in bits */
	int			low;
	int			high;
};

extern void sample_test_distance(SampleTest *test, int low, int high);
extern void sample_test_band(SampleTest *test);

#endif							/* SIMHASH_SAMPLE_TEST_H */
