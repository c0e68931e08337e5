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

/*
 * Return the ball to search for.  For <@, that is the argument.  For =, it is a ball of
 * radius 0 around the argument.
 */
static SimHashBall
fingerprint_query(const ScanKeyData *key)
{
	SimHashBall ball = {0};

	if (key->sk_strategy == STRATEGY_WITHIN)
		return *DatumGetSimHashBallP(key->sk_argument);
	ball.center = DatumGetSimHash(key->sk_argument);
	return ball;
}

static const HammingMethods fingerprint_methods = {
	.get_key = fingerprint_key,
	.get_ball = fingerprint_query,
};

static const Opclass fingerprint_opclass = {
	.length = sizeof(SimHash),
	.operators = {
		[STRATEGY_WITHIN] = simhash_in_ball,
		[STRATEGY_EQUAL] = simhash_eq,
		[STRATEGY_DISTANCE] = simhash_hamming_distance,
	},
	.hamming = &fingerprint_methods,
};

PG_FUNCTION_INFO_V1(simhash_opclass);
Datum
simhash_opclass(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&fingerprint_opclass);
}

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

static SimHashBall
ball_query(const ScanKeyData *key)
{
	return *DatumGetSimHashBallP(key->sk_argument);
}

static const HammingMethods ball_methods = {
	.get_key = ball_key,
	.get_ball = ball_query,
};

static const Opclass ball_opclass = {
	.length = sizeof(SimHashBall),
	.recheck = true,
	.operators = {
		[STRATEGY_NEAR] = simhash_ball_near,
	},
	.hamming = &ball_methods,
};

PG_FUNCTION_INFO_V1(simhash_ball_opclass);
Datum
simhash_ball_opclass(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&ball_opclass);
}
