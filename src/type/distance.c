/*-------------------------------------------------------------------------
 *
 * distance.c
 *		Hamming distance, and the predicates and estimates that use it
 *
 * No function here fails on any input, so all are leakproof.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"
#include "type/simhash_type.h"

PG_FUNCTION_INFO_V1(simhash_hamming_distance);
Datum
simhash_hamming_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(simhash_distance(PG_GETARG_SIMHASH(0),
									 PG_GETARG_SIMHASH(1)));
}

PG_FUNCTION_INFO_V1(simhash_within);
Datum
simhash_within(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(simhash_distance(PG_GETARG_SIMHASH(0),
									PG_GETARG_SIMHASH(1)) <= PG_GETARG_INT64(2));
}

PG_FUNCTION_INFO_V1(simhash_in_ball);
Datum
simhash_in_ball(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(simhash_ball_contains(PG_GETARG_SIMHASH_BALL_P(1),
										 PG_GETARG_SIMHASH(0)));
}

PG_FUNCTION_INFO_V1(simhash_ball_contains_simhash);
Datum
simhash_ball_contains_simhash(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(simhash_ball_contains(PG_GETARG_SIMHASH_BALL_P(0),
										 PG_GETARG_SIMHASH(1)));
}

/* cos(pi * d / 64) for d = 0 to 32.  A table needs no libm, and is exact for d = 32. */
static const double cosine[SIMHASH_BITS / 2 + 1] = {
	1.0, 0.9987954562051724, 0.9951847266721969,
	0.989176509964781, 0.9807852804032304, 0.970031253194544,
	0.9569403357322088, 0.9415440651830208, 0.9238795325112867,
	0.9039892931234433, 0.881921264348355, 0.8577286100002721,
	0.8314696123025452, 0.8032075314806449, 0.773010453362737,
	0.7409511253549591, 0.7071067811865476, 0.6715589548470183,
	0.6343932841636455, 0.5956993044924335, 0.5555702330196023,
	0.5141027441932217, 0.4713967368259978, 0.4275550934302822,
	0.38268343236508984, 0.33688985339222005, 0.29028467725446233,
	0.24298017990326398, 0.19509032201612833, 0.14673047445536175,
	0.09801714032956077, 0.049067674327418126, 0.0
};

/*
 * simhash_similarity(simhash, simhash)
 *
 * Returns the estimated cosine similarity.  The bits of two fingerprints differ with
 * probability angle/pi (Charikar 2002), so the distance estimates the angle.
 */
PG_FUNCTION_INFO_V1(simhash_similarity);
Datum
simhash_similarity(PG_FUNCTION_ARGS)
{
	int			distance = simhash_distance(PG_GETARG_SIMHASH(0),
											PG_GETARG_SIMHASH(1));

	if (distance <= SIMHASH_BITS / 2)
		PG_RETURN_FLOAT8(cosine[distance]);
	PG_RETURN_FLOAT8(-cosine[SIMHASH_BITS - distance]);
}
