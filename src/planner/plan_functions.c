/*
 * Functions that the rewrite writes into plans: radii of bounds, and simhash_beside
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

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
 * Return the greatest integer below a number, clamped like radius_of_float8().
 */
int64
radius_below_int8(int64 bound)
{
	return bound <= 0 ? BALL_EMPTY : Min(bound - 1, SIMHASH_BITS);
}

/*
 * Return 0 or SIMHASH_BITS as a numeric.  Keeps it, since a plan may need it for each row.
 */
static Datum
numeric_limit(int limit)
{
	static Numeric limits[SIMHASH_BITS + 1];

	if (limits[limit] == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(TopMemoryContext);

		limits[limit] = int64_to_numeric(limit);
		MemoryContextSwitchTo(old_context);
	}
	return NumericGetDatum(limits[limit]);
}

/*
 * Return radius_of_float8() of a numeric, or, if `below` is true, radius_below_float8().
 */
int64
radius_of_numeric(Datum bound, bool below)
{
	Datum		integer;
	int64		radius;

	if (!DatumGetBool(DirectFunctionCall2(numeric_lt, bound, numeric_limit(SIMHASH_BITS))))
	{
		integer = numeric_limit(SIMHASH_BITS);
		radius = SIMHASH_BITS;
	}
	else if (DatumGetBool(DirectFunctionCall2(numeric_lt, bound, numeric_limit(0))))
		return BALL_EMPTY;
	else
	{
		integer = DirectFunctionCall1(numeric_floor, bound);
		radius = DatumGetInt64(DirectFunctionCall1(numeric_int8, integer));
	}
	return radius - (below && DatumGetBool(DirectFunctionCall2(numeric_eq, bound, integer)));
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

PG_FUNCTION_INFO_V1(simhash_radius_below_int8);
Datum
simhash_radius_below_int8(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(radius_below_int8(PG_GETARG_INT64(0)));
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
