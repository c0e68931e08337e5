/*
 * Tests of pairs of sampled values
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "bits.h"
#include "planner/sample_test.h"
#include "type/minhash_type.h"
#include "type/simhash_type.h"

/*
 * Return how two fingerprints are related.
 */
static Relationship
relate_fingerprints(Datum a, Datum b, const SampleTest *test)
{
	int			distance = simhash_distance(DatumGetSimHash(a), DatumGetSimHash(b));

	if (distance == 0)
		return VALUES_EQUAL;
	return distance >= test->low && distance <= test->high ?
		VALUES_NEAR : VALUES_APART;
}

/*
 * Initialize the test that holds for fingerprints at a distance of low to high
 * bits, inclusive.  If high is negative, no pair matches.
 */
void
sample_test_distance(SampleTest *test, int low, int high)
{
	*test = (SampleTest) {relate_fingerprints,.low = low,.high = high};
	test->of_equal = low <= 0 && high >= 0;
	test->min_fraction = ldexp(bits_count_patterns(SIMHASH_BITS, low, high, HUGE_VAL),
								-SIMHASH_BITS);
	test->max_fraction = high >= 0;
	if (low <= 0 && high >= SIMHASH_BITS)
		test->min_fraction = 1;
}

/*
 * Return how two signatures are related.  Signatures with different parameters are
 * VALUES_APART.  An estimate raises no error for them, but the query does when it compares
 * them.
 */
static Relationship
relate_signatures(Datum a, Datum b, const SampleTest *test)
{
	const Minhash *sig = (const Minhash *) DatumGetPointer(a);
	const Minhash *other = (const Minhash *) DatumGetPointer(b);

	if (!minhash_same_params(sig->params, other->params) ||
		!minima_share_band(sig->minima, other->minima, sig->params.bands, sig->params.rows))
		return VALUES_APART;
	return minima_count_equal(sig->minima, other->minima, minhash_length(sig)) ==
		minhash_length(sig) ? VALUES_EQUAL : VALUES_NEAR;
}

/*
 * Initialize the test that holds for signatures that share a band.
 */
void
sample_test_band(SampleTest *test)
{
	*test = (SampleTest) {relate_signatures,.of_equal = true,.max_fraction = 1};
}
