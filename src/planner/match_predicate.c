/*-------------------------------------------------------------------------
 *
 * match_predicate.c
 *		What estimates ask of two values: whether a predicate holds for them
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "bits.h"
#include "planner/match_predicate.h"
#include "type/minhash_type.h"
#include "type/simhash_type.h"

static Relationship
relate_fingerprints(Datum a, Datum b, const Nearness *nearness)
{
	int			distance = simhash_distance(DatumGetSimHash(a), DatumGetSimHash(b));

	if (distance == 0)
		return VALUES_EQUAL;
	return distance >= nearness->low && distance <= nearness->high ?
		VALUES_NEAR : VALUES_APART;
}

/*
 * Fingerprints whose distance is in a range; none is, if `high` is negative.
 */
void
nearness_of_fingerprints(Nearness *nearness, int low, int high)
{
	*nearness = (Nearness) {relate_fingerprints,.low = low,.high = high};
	nearness->of_equal = low <= 0 && high >= 0;
	nearness->least = ldexp(bits_count_patterns(SIMHASH_BITS, low, high, HUGE_VAL),
							-SIMHASH_BITS);
	nearness->most = high >= 0;
	if (low <= 0 && high >= SIMHASH_BITS)
		nearness->least = 1;
}

/*
 * Signatures of different make are apart: it is the query's business that they cannot be
 * compared.
 */
static Relationship
relate_signatures(Datum a, Datum b, const Nearness *nearness)
{
	const Minhash *sig = (const Minhash *) DatumGetPointer(a);
	const Minhash *other = (const Minhash *) DatumGetPointer(b);

	if (!minhash_same_make(sig->make, other->make) ||
		!minima_share_band(sig->minima, other->minima, sig->make.bands, sig->make.rows))
		return VALUES_APART;
	return minima_count_equal(sig->minima, other->minima, minhash_places(sig)) ==
		minhash_places(sig) ? VALUES_EQUAL : VALUES_NEAR;
}

/*
 * Signatures that share a band.
 */
void
nearness_of_signatures(Nearness *nearness)
{
	*nearness = (Nearness) {relate_signatures,.of_equal = true,.most = 1};
}
