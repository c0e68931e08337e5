/*-------------------------------------------------------------------------
 *
 * containment_ball.c
 *		The type containment_ball: the argument of an index search in place of sk <%>>
 *		q <= t
 *
 * It is a row type, (passage bigint[], radius double precision), since only plans have
 * values of it.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/typcache.h"

#include "compat.h"
#include "type/hash_array.h"

#define BALL_COLUMNS		2

/*
 * Check the columns of the row type.  Raises an error if a user has changed them.
 */
static void
check_columns(TupleDesc desc)
{
	if (desc->natts != BALL_COLUMNS ||
		TupleDescAttr(desc, 0)->atttypid != INT8ARRAYOID ||
		TupleDescAttr(desc, 1)->atttypid != FLOAT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("type containment_ball must have the columns bigint[] and double precision")));
}

/*
 * containment_ball(passage, radius)
 *
 * Accepts any radius, so that the function raises no error.  In a plan, it replaces a
 * predicate, which raises no error either.
 */
PG_FUNCTION_INFO_V1(simhash_containment_ball);
Datum
simhash_containment_ball(PG_FUNCTION_ARGS)
{
	Datum		values[BALL_COLUMNS] = {PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)};
	bool		nulls[BALL_COLUMNS] = {false, false};
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	check_columns(desc);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/*
 * Set *passage and *radius to the fields of a ball.  *passage points into the ball or into
 * a copy of the ball.  Returns false if either field is NULL.  Such a ball contains
 * nothing.
 */
bool
containment_ball_open(Datum ball, Datum *passage, float8 *radius)
{
	HeapTupleHeader header = get_tuple_header(ball);
	TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header),
											  HeapTupleHeaderGetTypMod(header));
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(header),.t_data = header};
	Datum		values[BALL_COLUMNS];
	bool		nulls[BALL_COLUMNS];

	check_columns(desc);
	heap_deform_tuple(&tuple, desc, values, nulls);
	ReleaseTupleDesc(desc);
	if (nulls[0] || nulls[1])
		return false;
	*passage = values[0];
	*radius = DatumGetFloat8(values[1]);
	return true;
}

/*
 * Return true, as a function's result, if a document is within the radius of a passage.
 * Returns NULL if the passage has no elements.
 */
static Datum
is_within(FunctionCallInfo fcinfo, Datum document, Datum passage, float8 radius)
{
	int			n;
	int			missing = containment_missing(fcinfo, document, passage, &n);

	if (n == 0)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(float8_le((float8) missing / n, radius));
}

/*
 * containment_within(document, passage, radius)
 */
PG_FUNCTION_INFO_V1(simhash_containment_within);
Datum
simhash_containment_within(PG_FUNCTION_ARGS)
{
	return is_within(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), PG_GETARG_FLOAT8(2));
}

/*
 * document <%@ ball
 */
PG_FUNCTION_INFO_V1(simhash_containment_in_ball);
Datum
simhash_containment_in_ball(PG_FUNCTION_ARGS)
{
	Datum		passage;
	float8		radius;

	if (!containment_ball_open(PG_GETARG_DATUM(1), &passage, &radius))
		PG_RETURN_NULL();
	return is_within(fcinfo, PG_GETARG_DATUM(0), passage, radius);
}
