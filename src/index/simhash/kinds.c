/*-------------------------------------------------------------------------
 *
 * kinds.c
 *		The kinds of values whose words are fingerprints: these themselves, and balls
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"
#include "index/kind.h"
#include "index/strategy.h"

/* --- fingerprints ------------------------------------------------------------- */

static void
fingerprint_words(Datum value, Words *words)
{
	words->own = DatumGetSimHash(value);
	words->word = &words->own;
	words->n = 1;
}

static SimHashBall
fingerprint_search(const ScanKeyData *key)
{
	SimHashBall ball = {0};

	if (key->sk_strategy == STRATEGY_WITHIN)
		return *DatumGetSimHashBallP(key->sk_argument);
	ball.center = DatumGetSimHash(key->sk_argument);
	return ball;
}

static const KindOperator fingerprint_operators[] = {
	{STRATEGY_WITHIN, simhash_in_ball},
	{STRATEGY_EQUAL, simhash_eq},
	{STRATEGY_DISTANCE, simhash_hamming_distance},
};

static const IndexKind fingerprint_kind = {
	.get_words = fingerprint_words,
	.length = sizeof(SimHash),
	.get_ball = fingerprint_search,
	.operators = fingerprint_operators,
	.noperators = lengthof(fingerprint_operators),
};

PG_FUNCTION_INFO_V1(simhash_kind);
Datum
simhash_kind(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&fingerprint_kind);
}

/* --- balls ---------------------------------------------------------------------- */

/*
 * A ball is found by its center, which is within the one that is searched for if the two
 * match; whether it reaches as far itself does not show in the entry.
 */
static void
ball_words(Datum value, Words *words)
{
	words->own = DatumGetSimHashBallP(value)->center;
	words->word = &words->own;
	words->n = 1;
}

static SimHashBall
ball_search(const ScanKeyData *key)
{
	return *DatumGetSimHashBallP(key->sk_argument);
}

static const KindOperator ball_operators[] = {
	{STRATEGY_NEAR, simhash_ball_near},
};

static const IndexKind ball_kind = {
	.get_words = ball_words,
	.length = sizeof(SimHashBall),
	.get_ball = ball_search,
	.recheck = true,
	.operators = ball_operators,
	.noperators = lengthof(ball_operators),
};

PG_FUNCTION_INFO_V1(simhash_ball_kind);
Datum
simhash_ball_kind(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&ball_kind);
}
