/*
 * Convert the bound of a distance to a radius
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
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "planner/bound.h"
#include "planner/plan_functions.h"
#include "type/simhash_type.h"

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
 * Return the radius in bits of a constant, for <= or, if `below` is true, for <.
 */
static int64
radius_of_constant(const Const *bound, bool below)
{
	Datum		value = bound->constvalue;
	int64		integer;
	float8		number;

	switch (bound->consttype)
	{
		case INT2OID:
			integer = DatumGetInt16(value);
			return below ? radius_below_int8(integer) : integer;
		case INT4OID:
			integer = DatumGetInt32(value);
			return below ? radius_below_int8(integer) : integer;
		case INT8OID:
			integer = DatumGetInt64(value);
			return below ? radius_below_int8(integer) : integer;
		case NUMERICOID:
			return radius_of_numeric(value, below);
		default:
			number = bound->consttype == FLOAT4OID ? DatumGetFloat4(value) : DatumGetFloat8(value);
			return below ? radius_below_float8(number) : radius_of_float8(number);
	}
}

/*
 * Return the value of a constant of type float4 or float8.
 */
static float8
fraction_of_constant(const Const *bound)
{
	return bound->consttype == FLOAT4OID ?
		DatumGetFloat4(bound->constvalue) : DatumGetFloat8(bound->constvalue);
}

/*
 * Raise a NOTICE that the bound of a Hamming distance is less than one bit, or that the
 * bound of a fraction is above 1, at most once per statement.  The user has probably taken
 * one for the other.
 */
static void
notice_unit(const Const *bound, bool of_bits)
{
	static TimestampTz last_notice = 0;
	Oid			output;
	bool		is_varlena;
	char	   *number;

	if (last_notice == GetCurrentStatementStartTimestamp())
		return;
	last_notice = GetCurrentStatementStartTimestamp();
	getTypeOutputInfo(bound->consttype, &output, &is_varlena);
	number = OidOutputFunctionCall(output, bound->constvalue);
	ereport(NOTICE,
			of_bits ? errmsg("a bound of %s is less than one bit", number) :
			errmsg("a bound of %s is greater than any distance", number),
			of_bits ?
			errhint("The Hamming distance is a number of bits from 0 to %d, as in fp <~> q <= 3.  The distance of signatures is a fraction, as in sig <%%> q <= %s.",
					SIMHASH_BITS, number) :
			errhint("The distance of signatures and of sketches is a fraction from 0 to 1, as in sig <%%> q <= 0.2.  The Hamming distance is a number of bits, as in fp <~> q <= 3."));
}

/*
 * Raise a NOTICE if an upper bound is a constant that looks like the bound of another
 * distance.
 */
void
bound_check_unit(bool of_bits, Node *bound)
{
	const Const *constant = (const Const *) bound;
	double		fraction;

	if (!IsA(constant, Const) || constant->constisnull)
		return;
	if (of_bits)
	{
		if (radius_of_constant(constant, false) == 0 && radius_of_constant(constant, true) == 0)
			notice_unit(constant, true);
		return;
	}
	fraction = fraction_of_constant(constant);
	if (fraction > 1 && !isinf(fraction))
		notice_unit(constant, false);
}

/* --- of any bound ------------------------------------------------------------- */

/*
 * Return a call of a function of one argument.
 */
static Expr *
make_call(Oid function, Oid result, Expr *argument, CoercionForm form)
{
	return (Expr *) makeFuncExpr(function, result, list_make1(argument),
								 InvalidOid, InvalidOid, form);
}

/*
 * Return a float4 as a float8, and any other number as it is.
 */
static Expr *
widen_float(Expr *number)
{
	return exprType((Node *) number) != FLOAT4OID ? number :
		make_call(F_FLOAT8_FLOAT4, FLOAT8OID, number, COERCE_IMPLICIT_CAST);
}

/*
 * Return the radius in bits of a bound that is not a constant.
 */
static Expr *
radius_of_expression(const SimHashObjects *objects, Expr *bound, bool below)
{
	bound = widen_float(bound);
	switch (exprType((Node *) bound))
	{
		case NUMERICOID:
			return make_call(below ? objects->below_numeric : objects->radius_numeric, INT8OID,
							 bound, COERCE_EXPLICIT_CALL);
		case FLOAT8OID:
			return make_call(below ? objects->below_float8 : objects->radius_float8, INT8OID,
							 bound, COERCE_EXPLICIT_CALL);
		case INT2OID:
			bound = make_call(F_INT8_INT2, INT8OID, bound, COERCE_IMPLICIT_CAST);
			break;
		case INT4OID:
			bound = make_call(F_INT8_INT4, INT8OID, bound, COERCE_IMPLICIT_CAST);
			break;
	}
	return below ? make_call(objects->below_int8, INT8OID, bound, COERCE_EXPLICIT_CALL) : bound;
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
	Expr	   *radius;

	if (known && of_bits)
		return (Expr *) make_constant(INT8OID, Int64GetDatum(radius_of_constant(constant, below)));
	if (known)
	{
		fraction = fraction_of_constant(constant);
		return (Expr *) make_constant(FLOAT8OID, Float8GetDatum(below ? fraction_below(fraction) :
																fraction));
	}
	if (of_bits)
		return radius_of_expression(objects, copyObject((Expr *) bound), below);
	radius = widen_float(copyObject((Expr *) bound));
	return below ? make_call(objects->fraction_below, FLOAT8OID, radius, COERCE_EXPLICIT_CALL) :
		radius;
}
