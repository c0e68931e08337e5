/*-------------------------------------------------------------------------
 *
 * nearness.c
 *		What estimates ask of two values: whether a predicate holds for them
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "bits.h"
#include "planner/nearness.h"
#include "type/minhash.h"
#include "type/simhash.h"

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
	double		distance;

	if (!minhash_same_make(sig->make, other->make))
		return VALUES_APART;
	if (nearness->by_band &&
		!minima_share_band(sig->minima, other->minima, sig->make.bands, sig->make.rows))
		return VALUES_APART;
	distance = minhash_distance(sig, other);
	if (distance == 0)
		return VALUES_EQUAL;
	return nearness->by_band ||
		(float8_ge(distance, nearness->low) && float8_le(distance, nearness->high)) ?
		VALUES_NEAR : VALUES_APART;
}

/*
 * Signatures whose distance is in a range.  Those of unrelated texts are farther apart
 * than anybody asks for.
 */
void
nearness_of_signatures(Nearness *nearness, double low, double high)
{
	*nearness = (Nearness) {relate_signatures,.low = low,.high = high};
	nearness->of_equal = float8_le(low, 0) && float8_ge(high, 0);
	nearness->most = float8_ge(high, 0);
	nearness->least = float8_le(low, 0) && float8_ge(high, 1);
}

/*
 * Signatures that share a band.
 */
void
nearness_by_band(Nearness *nearness)
{
	*nearness = (Nearness) {relate_signatures,.of_equal = true,.most = 1,.by_band = true};
}
