/*
 * Convert the bound of a distance to a radius, also in plans; simhash_beside
 *
 * A Hamming distance is an integer from 0 to 64, so d <= 3.7 is equivalent to d <= 3.  The
 * radius of a number is therefore the greatest integer not above it, and that of d < 3.7 the
 * greatest one below it.  Containment, Jaccard and signature distance are fractions of type
 * float8, and so are their radii.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "planner/planner.h"
#include "type/simhash_type.h"

/* --- of a number -------------------------------------------------------------- */

/*
 * Return the greatest integer that is not above a number, clamped to the radii of balls:
 * SIMHASH_BITS for all greater ones, BALL_EMPTY for negative ones.  NaN is greater than all
 * numbers, as in PostgreSQL.
 */
static int64
radius_of_float8(float8 bound)
{
	if (isnan(bound) || bound >= SIMHASH_BITS)
		return SIMHASH_BITS;
	return bound < 0 ? BALL_EMPTY : (int64) bound;
}

/*
 * Return the greatest integer below a number, clamped like radius_of_float8().
 */
static int64
radius_below_float8(float8 bound)
{
	int64		radius = radius_of_float8(bound);

	return Max(radius - (radius == bound), BALL_EMPTY);
}

/*
 * Return radius_of_float8() of a numeric, or, if `below` is true, radius_below_float8().
 * Rounds the numeric to an integer first, since float8 has fewer digits.
 */
static int64
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

/*
 * Return a Const with a value that is not NULL.
 */
Node *
make_constant(Oid type, Datum value)
{
	int16		length;
	bool		byval;

	get_typlenbyval(type, &length, &byval);
	return (Node *) makeConst(type, -1, InvalidOid, length, value, false, byval);
}

/* --- of a constant ----------------------------------------------------------- */

/*
 * Return the value of a constant of any number type, rounded to float8.
 */
static float8
number_of_constant(const Const *bound)
{
	Datum		value = bound->constvalue;

	switch (bound->consttype)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return DatumGetInt64(value);
		case FLOAT4OID:
			return DatumGetFloat4(value);
		case NUMERICOID:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
		default:
			return DatumGetFloat8(value);
	}
}

/*
 * Return the radius in bits of a constant, for <= or, if `below` is true, for <.
 */
static int64
radius_of_constant(const Const *bound, bool below)
{
	float8		number;

	if (bound->consttype == NUMERICOID)
		return radius_of_numeric(bound->constvalue, below);
	number = number_of_constant(bound);
	return below ? radius_below_float8(number) : radius_of_float8(number);
}

/*
 * Raise a NOTICE if an upper bound is a constant that looks like the bound of another distance,
 * at most once per statement: of a Hamming distance less than one bit, of a fraction above 1.
 */
void
bound_check_unit(bool of_bits, Node *bound)
{
	static TimestampTz last_notice = 0;
	const Const *constant = (const Const *) bound;
	Oid			output;
	bool		is_varlena;
	double		value;
	char	   *number;

	if (!IsA(constant, Const) || constant->constisnull)
		return;
	value = number_of_constant(constant);
	if (!(of_bits ? value > 0 && value < 1 : value > 1 && !isinf(value)) ||
		last_notice == GetCurrentStatementStartTimestamp())
		return;
	last_notice = GetCurrentStatementStartTimestamp();
	getTypeOutputInfo(constant->consttype, &output, &is_varlena);
	number = OidOutputFunctionCall(output, constant->constvalue);
	ereport(NOTICE,
			of_bits ? errmsg("a bound of %s is less than one bit", number) :
			errmsg("a bound of %s is greater than any distance", number),
			of_bits ?
			errhint("The Hamming distance is a number of bits from 0 to %d, as in fp <~> q <= 3.  The distance of signatures is a fraction, as in sig <%%> q <= %s.",
					SIMHASH_BITS, number) :
			errhint("The distance of signatures and of sketches is a fraction from 0 to 1, as in sig <%%> q <= 0.2.  The Hamming distance is a number of bits, as in fp <~> q <= 3."));
}

/* --- of any bound ------------------------------------------------------------- */

/*
 * Return a call of a function of one argument.
 */
static Expr *
make_call(Oid function, Oid result, Expr *argument)
{
	return (Expr *) makeFuncExpr(function, result, list_make1(argument),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/*
 * Return a number, cast to another type of numbers if it has not this type.
 */
static Expr *
cast_number(Expr *number, Oid type)
{
	return (Expr *) coerce_to_target_type(NULL, (Node *) number, exprType((Node *) number),
										  type, -1, COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
}

/*
 * Return the radius in bits of a bound that is not a constant.
 */
static Expr *
radius_of_expression(const SimHashObjects *objects, Expr *bound, bool below)
{
	Oid			type = exprType((Node *) bound);

	if (type == NUMERICOID)
		return make_call(below ? objects->below_numeric : objects->radius_numeric, INT8OID, bound);
	if (!below && type != FLOAT4OID && type != FLOAT8OID)
		return cast_number(bound, INT8OID);
	return make_call(below ? objects->below_float8 : objects->radius_float8, INT8OID,
					 cast_number(bound, FLOAT8OID));
}

/*
 * Return the radius that is equivalent to a bound, as an expression of the distance's
 * radius_type: distance <= bound is distance <= radius, or, if `below` is true, distance <
 * bound is distance <= radius.
 *
 * No operator of core subtracts 1 here.  If the table has row security policies, an index
 * serves only leakproof clauses, and bigint - bigint is not leakproof.
 */
Expr *
bound_radius(const SimHashObjects *objects, Node *bound, bool below)
{
	const Const *constant = (const Const *) bound;
	bool		known = IsA(bound, Const) && !constant->constisnull;
	bool		of_bits = objects->distance->radius_type == INT8OID;
	float8		fraction;

	if (known && of_bits)
		return (Expr *) make_constant(INT8OID, Int64GetDatum(radius_of_constant(constant, below)));
	if (known)
	{
		fraction = number_of_constant(constant);
		return (Expr *) make_constant(FLOAT8OID, Float8GetDatum(below ? fraction_below(fraction) :
																fraction));
	}
	bound = copyObject(bound);
	if (of_bits)
		return radius_of_expression(objects, (Expr *) bound, below);
	bound = (Node *) cast_number((Expr *) bound, FLOAT8OID);
	return below ? make_call(objects->fraction_below, FLOAT8OID, (Expr *) bound) : (Expr *) bound;
}

/* --- functions that the rewrite writes into plans ----------------------------- */

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
