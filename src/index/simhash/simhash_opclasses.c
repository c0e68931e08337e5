/*
 * Operator classes of fingerprints, and of balls
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "compat.h"
#include "index/opclass.h"

/* --- fingerprints ------------------------------------------------------------- */

static uint64
fingerprint_key(Datum value)
{
	return DatumGetSimHash(value);
}

static const Opclass fingerprint_opclass = {
	.length = sizeof(SimHash),
	.operators = {
		[STRATEGY_WITHIN] = simhash_in_ball,
		[STRATEGY_EQUAL] = simhash_eq,
		[STRATEGY_DISTANCE] = simhash_hamming_distance,
	},
	.get_key = fingerprint_key,
};

OPCLASS_FUNCTION(simhash_opclass, fingerprint_opclass);

/* --- balls ---------------------------------------------------------------------- */

/*
 * Return the key of a ball, which is its center.  If two balls match (=~=), the center of
 * each ball is in the other ball.  The entry does not contain the radius, so the operator
 * is rechecked on each row.
 */
static uint64
ball_key(Datum value)
{
	return DatumGetSimHashBallP(value)->center;
}

static const Opclass ball_opclass = {
	.length = sizeof(SimHashBall),
	.recheck = true,
	.operators = {
		[STRATEGY_NEAR] = simhash_ball_near,
	},
	.get_key = ball_key,
};

OPCLASS_FUNCTION(simhash_ball_opclass, ball_opclass);
