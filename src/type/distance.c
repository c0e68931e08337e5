/*-------------------------------------------------------------------------
 *
 * distance.c
 *		Hamming distance, and the predicates that use it
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
