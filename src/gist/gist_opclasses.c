/*
 * GiST operator classes: simhash_ops of fingerprints, for indexes of several columns, and
 * simhash_ball_ops of balls, for exclusion constraints
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "gist/union_key.h"
#include "type/strategy.h"

/*
 * Define the support functions "union", "picksplit" and "same" of an operator class, for keys of a
 * type, which are united by a UniteKeys.  All bytes of a key are part of its value.
 */
#define KEY_FUNCTIONS(key_type, unite, name_union, name_picksplit, name_same) \
	PG_FUNCTION_INFO_V1(name_union); \
	Datum \
	name_union(PG_FUNCTION_ARGS) \
	{ \
		return keys_union(fcinfo, sizeof(key_type), unite); \
	} \
	PG_FUNCTION_INFO_V1(name_picksplit); \
	Datum \
	name_picksplit(PG_FUNCTION_ARGS) \
	{ \
		return keys_picksplit(fcinfo, sizeof(key_type), unite); \
	} \
	PG_FUNCTION_INFO_V1(name_same); \
	Datum \
	name_same(PG_FUNCTION_ARGS) \
	{ \
		bool	   *same = (bool *) PG_GETARG_POINTER(2); \
		\
		*same = memcmp(PG_GETARG_POINTER(0), PG_GETARG_POINTER(1), sizeof(key_type)) == 0; \
		PG_RETURN_POINTER(same); \
	} \
	extern Datum name_same(PG_FUNCTION_ARGS)

/* --- fingerprints ----------------------------------------------------------------- */

/*
 * Input function of the types of keys of both operator classes.  Keys exist in indexes only,
 * so no text is valid input.
 */
PG_FUNCTION_INFO_V1(simhash_gist_key_in);
Datum
simhash_gist_key_in(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot accept a value of type %s",
					format_type_be(get_func_rettype(fcinfo->flinfo->fn_oid))),
			 errhint("Values of this type exist in indexes only.")));
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(simhash_gist_key_out);
Datum
simhash_gist_key_out(PG_FUNCTION_ARGS)
{
	const UnionKey *key = DatumGetUnionKeyP(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(psprintf("(%016llx,%016llx)", (unsigned long long) key->mask,
							   (unsigned long long) key->value));
}

PG_FUNCTION_INFO_V1(simhash_gist_compress);
Datum
simhash_gist_compress(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	UnionKey   *key;

	if (!entry->leafkey)
		PG_RETURN_POINTER(entry);
	key = palloc(sizeof(UnionKey));
	*key = (UnionKey) {ALL_BITS, DatumGetSimHash(entry->key)};
	return entry_with(entry, PointerGetDatum(key));
}

PG_FUNCTION_INFO_V1(simhash_gist_fetch);
Datum
simhash_gist_fetch(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);

	return entry_with(entry, SimHashGetDatum(DatumGetUnionKeyP(entry->key)->value));
}

/*
 * Return true if a fingerprint below the entry may satisfy the query.  For a leaf entry,
 * return true if its fingerprint satisfies the query.  No recheck is needed.
 */
PG_FUNCTION_INFO_V1(simhash_gist_consistent);
Datum
simhash_gist_consistent(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	StrategyNumber strategy = PG_GETARG_UINT16(2);
	bool	   *recheck = (bool *) PG_GETARG_POINTER(4);
	const UnionKey *key = DatumGetUnionKeyP(entry->key);
	const SimHashBall *ball;

	*recheck = false;
	switch (strategy)
	{
		case STRATEGY_WITHIN:
			ball = PG_GETARG_SIMHASH_BALL_P(1);
			PG_RETURN_BOOL(union_key_distance(key, ball->center) <= ball->radius);
		case STRATEGY_EQUAL:
			PG_RETURN_BOOL(union_key_distance(key, PG_GETARG_SIMHASH(1)) == 0);
		default:
			elog(ERROR, "unrecognized strategy number: %d", strategy);
	}
}

/*
 * Return the distance of a leaf entry from the query, in bits.  For any other entry,
 * return a lower bound of the distances of the fingerprints below the entry.
 */
PG_FUNCTION_INFO_V1(simhash_gist_distance);
Datum
simhash_gist_distance(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	StrategyNumber strategy = PG_GETARG_UINT16(2);
	bool	   *recheck = (bool *) PG_GETARG_POINTER(4);

	if (strategy != STRATEGY_DISTANCE)
		elog(ERROR, "unrecognized strategy number: %d", strategy);
	*recheck = false;
	PG_RETURN_FLOAT8(union_key_distance(DatumGetUnionKeyP(entry->key),
										PG_GETARG_SIMHASH(1)));
}

PG_FUNCTION_INFO_V1(simhash_gist_penalty);
Datum
simhash_gist_penalty(PG_FUNCTION_ARGS)
{
	GISTENTRY  *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	GISTENTRY  *added = (GISTENTRY *) PG_GETARG_POINTER(1);
	float	   *penalty = (float *) PG_GETARG_POINTER(2);

	*penalty = union_key_penalty(DatumGetUnionKeyP(entry->key),
								 DatumGetUnionKeyP(added->key));
	PG_RETURN_POINTER(penalty);
}

KEY_FUNCTIONS(UnionKey, union_key_unite, simhash_gist_union, simhash_gist_picksplit,
			  simhash_gist_same);

/*
 * Return the strategy number of a CompareType: that of equality for COMPARE_EQ, else
 * InvalidStrategy.  The operator class simhash_ball_ops uses this function, too.
 */
PG_FUNCTION_INFO_V1(simhash_gist_strategy);
Datum
simhash_gist_strategy(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT16(PG_GETARG_INT32(0) == COMPARE_EQ ? STRATEGY_EQUAL : InvalidStrategy);
}

/* --- balls ------------------------------------------------------------------------ */

PG_FUNCTION_INFO_V1(simhash_ball_gist_key_out);
Datum
simhash_ball_gist_key_out(PG_FUNCTION_ARGS)
{
	const BallUnionKey *key = DatumGetBallUnionKeyP(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(psprintf("(%016llx,%016llx,%d)", (unsigned long long) key->centers.mask,
							   (unsigned long long) key->centers.value, key->radius));
}

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

KEY_FUNCTIONS(BallUnionKey, unite_balls, simhash_ball_gist_union, simhash_ball_gist_picksplit,
			  simhash_ball_gist_same);

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
