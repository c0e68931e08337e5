/*
 * GiST operator class simhash_ops: fingerprints, for indexes of several columns
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

/* --- the type of keys ----------------------------------------------------------- */

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

/* --- values and keys ------------------------------------------------------------ */

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

/* --- searching ------------------------------------------------------------------ */

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

/* --- pages ---------------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(simhash_gist_union);
Datum
simhash_gist_union(PG_FUNCTION_ARGS)
{
	return keys_union(fcinfo, sizeof(UnionKey), union_key_unite);
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

PG_FUNCTION_INFO_V1(simhash_gist_picksplit);
Datum
simhash_gist_picksplit(PG_FUNCTION_ARGS)
{
	return keys_picksplit(fcinfo, sizeof(UnionKey), union_key_unite);
}

PG_FUNCTION_INFO_V1(simhash_gist_same);
Datum
simhash_gist_same(PG_FUNCTION_ARGS)
{
	return keys_same(fcinfo, sizeof(UnionKey));
}

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
