/*
 * Convert the bound of a distance to a radius
 *
 * A Hamming distance is an integer from 0 to 64, so d <= 3.7 is equivalent to d <= 3.  The
 * radius of a number is therefore its floor.  Containment, Jaccard and signature distance
 * are fractions of type float8, and so are their radii.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgrprotos.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "planner/comparison.h"
#include "planner/radius.h"
#include "type/simhash_type.h"

/* --- of a constant ----------------------------------------------------------- */

/*
 * Return the radius of a constant, in bits.  Sets *whole to true if the constant is equal
 * to the radius.
 */
static int64
radius_of_constant(const Const *bound, bool *whole)
{
	Datum		value = bound->constvalue;
	int64		radius;
	float8		number;

	*whole = true;
	switch (bound->consttype)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return DatumGetInt64(value);
		case NUMERICOID:
			radius = radius_of_numeric(value);
			*whole = DatumGetBool(DirectFunctionCall2(numeric_eq, value,
													  NumericGetDatum(int64_to_numeric(radius))));
			return radius;
		default:
			number = bound->consttype == FLOAT4OID ? DatumGetFloat4(value) : DatumGetFloat8(value);
			radius = radius_of_float8(number);
			*whole = number == radius;
			return radius;
	}
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
 * Return the value of a constant of type float4 or float8.  Raises a NOTICE if it is
 * finite and above 1.
 */
static float8
fraction_of_constant(const Const *bound)
{
	float8		fraction = bound->consttype == FLOAT4OID ?
		DatumGetFloat4(bound->constvalue) : DatumGetFloat8(bound->constvalue);

	if (fraction > 1 && !isinf(fraction))
		notice_unit(bound, false);
	return fraction;
}

/*
 * Raise a NOTICE if a clause bounds the distance of signatures by a constant above 1.
 */
void
check_signature_bound(Node *clause)
{
	const Const *bound = read_signature_bound(clause);

	if (bound)
		(void) fraction_of_constant(bound);
}

/* --- of an expression --------------------------------------------------------- */

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
 * Return the radius of a bound that is not a constant, as an expression of the distance's
 * radius_type: the bound itself, a cast of it, or a call of simhash_radius().
 */
static Expr *
radius_of_expression(const Comparison *comparison)
{
	Expr	   *bound = (Expr *) copyObject(comparison->bound);
	Oid			type = exprType((Node *) bound);

	if (type == comparison->objects.distance->radius_type)
		return bound;
	if (type == INT2OID || type == INT4OID)
		return make_call(type == INT2OID ? F_INT8_INT2 : F_INT8_INT4, INT8OID, bound,
						 COERCE_IMPLICIT_CAST);
	if (type == FLOAT4OID)
		bound = make_call(F_FLOAT8_FLOAT4, FLOAT8OID, bound, COERCE_IMPLICIT_CAST);
	if (comparison->objects.distance->radius_type == FLOAT8OID)
		return bound;
	return make_call(type == NUMERICOID ? comparison->objects.radius_numeric :
					 comparison->objects.radius_float8, INT8OID, bound, COERCE_EXPLICIT_CALL);
}

/*
 * Return bound_radius() for a constant and a distance that is a fraction.
 */
static Expr *
radius_of_fraction(const Comparison *comparison, bool *exact)
{
	float8		radius = fraction_of_constant((const Const *) comparison->bound);

	/*
	 * use the next smaller number, except for NaN, since all other numbers are less than
	 * NaN
	 */
	if (comparison->strategy == BTLessStrategyNumber && !isnan(radius))
		radius = nextafter(radius, -HUGE_VAL);

	/*
	 * No distance is less than 0.  So d = bound is equivalent to d <= bound if the bound is
	 * at most 0, and only then.
	 */
	*exact = comparison->strategy != BTEqualStrategyNumber || radius <= 0;
	return (Expr *) makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
							  Float8GetDatum(radius), false, FLOAT8PASSBYVAL);
}

/*
 * Return the radius of a comparison's bound, as an expression of the distance's
 * radius_type.  Sets *exact to true if the comparison is equivalent to distance <= radius.
 * Otherwise, distance <= radius is necessary but not sufficient.
 */
Expr *
bound_radius(const Comparison *comparison, bool *exact)
{
	const Const *constant = (const Const *) comparison->bound;
	int64		radius;
	bool		whole;

	if (!IsA(constant, Const) || constant->constisnull)
	{
		/*
		 * Do not subtract 1 from the bound of <.  If the table has row security policies,
		 * an index serves only leakproof clauses, and bigint - bigint is not leakproof.
		 */
		*exact = comparison->strategy == BTLessEqualStrategyNumber;
		return radius_of_expression(comparison);
	}

	if (comparison->objects.distance->radius_type == FLOAT8OID)
		return radius_of_fraction(comparison, exact);
	radius = radius_of_constant(constant, &whole);
	if (radius == 0 && !whole)
		notice_unit(constant, true);
	if (comparison->strategy == BTLessStrategyNumber && whole && radius != PG_INT64_MIN)
		radius--;

	/*
	 * No distance is less than 0.  So d = bound is equivalent to d <= bound if the bound is
	 * at most 0, and only then.
	 */
	*exact = comparison->strategy != BTEqualStrategyNumber ||
		radius < 0 || (radius == 0 && whole);
	return (Expr *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
							  Int64GetDatum(radius), false, FLOAT8PASSBYVAL);
}
