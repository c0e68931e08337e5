/*
 * Functions that the rewrite writes into plans: radii of bounds, and simhash_beside
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "compat.h"
#include "planner/plan_functions.h"
#include "type/simhash_type.h"

/*
 * Return the greatest integer that is not above a number, clamped to the radii of balls:
 * SIMHASH_BITS for all greater ones, BALL_EMPTY for negative ones.  NaN is greater than all
 * numbers, as in PostgreSQL.
 */
int64
radius_of_float8(float8 bound)
{
	if (isnan(bound) || bound >= SIMHASH_BITS)
		return SIMHASH_BITS;
	return bound < 0 ? BALL_EMPTY : (int64) bound;
}

/*
 * Return the greatest integer below a number, clamped like radius_of_float8().
 */
int64
radius_below_float8(float8 bound)
{
	int64		radius = radius_of_float8(bound);

	return Max(radius - (radius == bound), BALL_EMPTY);
}

/*
 * Return radius_of_float8() of a numeric, or, if `below` is true, radius_below_float8().
 * Rounds the numeric to an integer first, since float8 has fewer digits.
 */
int64
radius_of_numeric(Datum bound, bool below)
{
	Datum		integer = DirectFunctionCall1(below ? numeric_ceil : numeric_floor, bound);
	float8		number = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, integer));

	return below ? radius_below_float8(number) : radius_of_float8(number);
}

/*
 * Return the greatest fraction below a number.  All numbers are below NaN, so it stays.
 */
float8
fraction_below(float8 bound)
{
	return isnan(bound) ? bound : nextafter(bound, -HUGE_VAL);
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
	PG_RETURN_INT64(radius_of_numeric(PG_GETARG_DATUM(0), false));
}

PG_FUNCTION_INFO_V1(simhash_radius_below_float8);
Datum
simhash_radius_below_float8(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(radius_below_float8(PG_GETARG_FLOAT8(0)));
}

PG_FUNCTION_INFO_V1(simhash_radius_below_numeric);
Datum
simhash_radius_below_numeric(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(radius_of_numeric(PG_GETARG_DATUM(0), true));
}

PG_FUNCTION_INFO_V1(simhash_sketch_radius_below);
Datum
simhash_sketch_radius_below(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(fraction_below(PG_GETARG_FLOAT8(0)));
}

/*
 * simhash_beside(a, b, clause): the clause's value.  The clause bounds the distance of a and b.
 * The rewrite puts this call beside the same clause, where that must stay, or beside an OR that
 * implies it.  An index can serve the call, and its estimate makes that of the other clause
 * right.
 */
PG_FUNCTION_INFO_V1(simhash_beside);
Datum
simhash_beside(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(PG_GETARG_DATUM(2));
}
