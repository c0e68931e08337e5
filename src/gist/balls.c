/*
 * GiST operator class simhash_ball_ops: balls, for exclusion constraints
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/stratnum.h"

#include "compat.h"
#include "gist/union_key.h"
#include "type/strategy.h"

/* --- the type of keys ----------------------------------------------------------- */

PG_FUNCTION_INFO_V1(simhash_ball_gist_key_out);
Datum
simhash_ball_gist_key_out(PG_FUNCTION_ARGS)
{
	const BallUnionKey *key = DatumGetBallUnionKeyP(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(psprintf("(%016llx,%016llx,%d)", (unsigned long long) key->centers.mask,
							   (unsigned long long) key->centers.value, key->radius));
}

/* --- values and keys ------------------------------------------------------------ */

PG_FUNCTION_INFO_V1(simhash_ball_gist_compress);
Datum
simhash_ball_gist_compress(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	const SimHashBall *ball;
	BallUnionKey *key;

	if (!entry->leafkey)
		PG_RETURN_POINTER(entry);
	ball = DatumGetSimHashBallP(entry->key);
	key = palloc(sizeof(BallUnionKey));
	*key = (BallUnionKey) {{ALL_BITS, ball->center}, ball->radius, 0};
	return entry_with(entry, PointerGetDatum(key));
}

PG_FUNCTION_INFO_V1(simhash_ball_gist_fetch);
Datum
simhash_ball_gist_fetch(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	const BallUnionKey *key = DatumGetBallUnionKeyP(entry->key);
	SimHashBall *ball = palloc0(sizeof(SimHashBall));

	ball->center = key->centers.value;
	ball->radius = key->radius;
	return entry_with(entry, PointerGetDatum(ball));
}

/* --- searching ------------------------------------------------------------------ */

/*
 * Return true if a ball below the entry may satisfy the query.  For a leaf entry, return
 * true if its ball satisfies the query.  No recheck is needed.
 */
PG_FUNCTION_INFO_V1(simhash_ball_gist_consistent);
Datum
simhash_ball_gist_consistent(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	const SimHashBall *ball = PG_GETARG_SIMHASH_BALL_P(1);
	StrategyNumber strategy = PG_GETARG_UINT16(2);
	bool	   *recheck = (bool *) PG_GETARG_POINTER(4);
	const BallUnionKey *key = DatumGetBallUnionKeyP(entry->key);
	int			distance = union_key_distance(&key->centers, ball->center);

	*recheck = false;
	switch (strategy)
	{
		case STRATEGY_NEAR:
			PG_RETURN_BOOL(distance <= Min(key->radius, ball->radius));
		case STRATEGY_EQUAL:
			PG_RETURN_BOOL(distance == 0 &&
						   (GIST_LEAF(entry) ? ball->radius == key->radius :
							ball->radius <= key->radius));
		default:
			elog(ERROR, "unrecognized strategy number: %d", strategy);
	}
}

/* --- pages ---------------------------------------------------------------------- */

/*
 * Replace a key of balls by its union with another key of balls (a UniteKeys).
 */
static void
unite_balls(UnionKey *key, const UnionKey *other)
{
	BallUnionKey *balls = (BallUnionKey *) key;

	union_key_unite(key, other);
	balls->radius = Max(balls->radius, ((const BallUnionKey *) other)->radius);
}

PG_FUNCTION_INFO_V1(simhash_ball_gist_union);
Datum
simhash_ball_gist_union(PG_FUNCTION_ARGS)
{
	return keys_union(fcinfo, sizeof(BallUnionKey), unite_balls);
}

/*
 * Compute the penalty.  It is the penalty of the centers, plus the increase of the radius
 * in bits.  A greater radius makes more searches visit the entry, as a lost bit does.
 */
PG_FUNCTION_INFO_V1(simhash_ball_gist_penalty);
Datum
simhash_ball_gist_penalty(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	GISTENTRY  *added = (GISTENTRY *) PG_GETARG_POINTER(1);
	float	   *penalty = (float *) PG_GETARG_POINTER(2);
	const BallUnionKey *key = DatumGetBallUnionKeyP(entry->key);
	const BallUnionKey *other = DatumGetBallUnionKeyP(added->key);

	*penalty = union_key_penalty(&key->centers, &other->centers) +
		Max(0, other->radius - key->radius);
	PG_RETURN_POINTER(penalty);
}

PG_FUNCTION_INFO_V1(simhash_ball_gist_picksplit);
Datum
simhash_ball_gist_picksplit(PG_FUNCTION_ARGS)
{
	return keys_picksplit(fcinfo, sizeof(BallUnionKey), unite_balls);
}

PG_FUNCTION_INFO_V1(simhash_ball_gist_same);
Datum
simhash_ball_gist_same(PG_FUNCTION_ARGS)
{
	return keys_same(fcinfo, sizeof(BallUnionKey));
}
