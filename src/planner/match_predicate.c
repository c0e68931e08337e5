/*
 * Match predicates: tests that estimates apply to pairs of values
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "bits.h"
#include "planner/match_predicate.h"
#include "type/minhash_type.h"
#include "type/simhash_type.h"

/*
 * Return how two fingerprints are related.
 */
static Relationship
relate_fingerprints(Datum a, Datum b, const MatchPredicate *match)
{
	int			distance = simhash_distance(DatumGetSimHash(a), DatumGetSimHash(b));

	if (distance == 0)
		return VALUES_EQUAL;
	return distance >= match->low && distance <= match->high ?
		VALUES_NEAR : VALUES_APART;
}

/*
 * Initialize the match predicate that holds for fingerprints at a distance of low to high
 * bits, inclusive.  If high is negative, no pair matches.
 */
void
match_predicate_of_fingerprints(MatchPredicate *match, int low, int high)
{
	*match = (MatchPredicate) {relate_fingerprints,.low = low,.high = high};
	match->of_equal = low <= 0 && high >= 0;
	match->min_fraction = ldexp(bits_count_patterns(SIMHASH_BITS, low, high, HUGE_VAL),
								-SIMHASH_BITS);
	match->max_fraction = high >= 0;
	if (low <= 0 && high >= SIMHASH_BITS)
		match->min_fraction = 1;
}

/*
 * Return how two signatures are related.  Signatures with different parameters are
 * VALUES_APART.  An estimate raises no error for them, but the query does when it compares
 * them.
 */
static Relationship
relate_signatures(Datum a, Datum b, const MatchPredicate *match)
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
 * Initialize the match predicate that holds for signatures that share a band.
 */
void
match_predicate_of_signatures(MatchPredicate *match)
{
	*match = (MatchPredicate) {relate_signatures,.of_equal = true,.max_fraction = 1};
}
