/*
 * Convert numbers to radii
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "compat.h"
#include "planner/radius.h"
#include "type/simhash_type.h"

/*
 * Return the floor of a number as a radius in bits, clamped: SIMHASH_BITS for all greater
 * numbers, BALL_EMPTY for negative numbers.  NaN counts as greater than all numbers.
 */
int64
radius_of_float8(float8 bound)
{
	if (isnan(bound) || bound >= SIMHASH_BITS)
		return SIMHASH_BITS;
	return bound < 0 ? BALL_EMPTY : (int64) bound;
}

/*
 * Return true if a numeric is less than `limit`.
 */
static bool
numeric_is_below(Datum number, int64 limit)
{
	return DatumGetBool(DirectFunctionCall2(numeric_lt, number,
											NumericGetDatum(int64_to_numeric(limit))));
}

/*
 * Return the floor of a numeric as a radius in bits, clamped as in radius_of_float8().
 */
int64
radius_of_numeric(Datum bound)
{
	if (!numeric_is_below(bound, SIMHASH_BITS))
		return SIMHASH_BITS;
	if (numeric_is_below(bound, 0))
		return BALL_EMPTY;
	return DatumGetInt64(DirectFunctionCall1(numeric_int8,
											 DirectFunctionCall1(numeric_floor, bound)));
}

PG_FUNCTION_INFO_V1(simhash_radius_float8);
Datum
simhash_radius_float8(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(radius_of_float8(PG_GETARG_FLOAT8(0)));
}

PG_FUNCTION_INFO_V1(simhash_radius_numeric);
Datum
simhash_radius_numeric(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(radius_of_numeric(PG_GETARG_DATUM(0)));
}
