/*
 * The type sketch_ball: the argument of an index search in place of sk <%> q <= t or
 * sk <%>> q <= t, and the value of an exclusion constraint
 *
 * It is a row type, (center bigint[], radius double precision), since nobody writes values
 * of it by hand.  The operator tells the distance.
 *
 * Copyright (c) 2026, the simhash authors
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
 * Check the columns of the row type.  Raises an error if a user has changed them.  A user may
 * have added columns.  They are NULL in a ball that a plan makes.
 */
static void
check_columns(TupleDesc desc)
{
	if (desc->natts < BALL_COLUMNS ||
		TupleDescAttr(desc, 0)->atttypid != INT8ARRAYOID ||
		TupleDescAttr(desc, 1)->atttypid != FLOAT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("type sketch_ball must have the columns bigint[] and double precision")));
}

/*
 * sketch_ball(center, radius)
 *
 * Accepts any radius, so that the function raises no error.  In a plan, it replaces a
 * predicate, which raises no error either.
 */
PG_FUNCTION_INFO_V1(simhash_sketch_ball);
Datum
simhash_sketch_ball(PG_FUNCTION_ARGS)
{
	Datum		values[MaxTupleAttributeNumber];
	bool		nulls[MaxTupleAttributeNumber];
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	check_columns(desc);
	memset(nulls, true, desc->natts);
	for (int i = 0; i < BALL_COLUMNS; i++)
	{
		values[i] = PG_GETARG_DATUM(i);
		nulls[i] = false;
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/*
 * Set *center and *radius to the fields of a ball.  *center points into the ball or into a
 * copy of the ball.  Returns false if either field is NULL.  Such a ball contains nothing.
 */
bool
sketch_ball_open(Datum ball, Datum *center, float8 *radius)
{
	HeapTupleHeader header = get_tuple_header(ball);
	TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header),
											  HeapTupleHeaderGetTypMod(header));
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(header),.t_data = header};
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *nulls = palloc(desc->natts * sizeof(bool));
	bool		found;

	check_columns(desc);
	/* not heap_getattr(), which calls a function that a minor release added */
	heap_deform_tuple(&tuple, desc, values, nulls);
	ReleaseTupleDesc(desc);
	found = !nulls[0] && !nulls[1];
	if (found)
	{
		*center = values[0];
		*radius = DatumGetFloat8(values[1]);
	}
	pfree(values);
	pfree(nulls);
	return found;
}

/*
 * Return, as a function's result, whether the containment distance of a document from a
 * passage is above `above` and at most the radius.  Returns NULL if the passage has no
 * elements.
 */
static Datum
contains_within(FunctionCallInfo fcinfo, Datum document, Datum passage, float8 radius, float8 above)
{
	Overlap		overlap = hash_array_overlap(fcinfo, document, passage);
	double		distance;

	if (overlap.b == 0)
		PG_RETURN_NULL();
	distance = containment_distance_of(&overlap);
	PG_RETURN_BOOL(float8_gt(distance, above) && float8_le(distance, radius));
}

/*
 * Return, as a function's result, whether the Jaccard distance of two arrays is above `above`
 * and at most the radius.  Returns NULL if neither has elements.
 */
static Datum
resembles_within(FunctionCallInfo fcinfo, Datum a, Datum b, float8 radius, float8 above)
{
	Overlap		overlap = hash_array_overlap(fcinfo, a, b);
	double		distance;

	if (overlap_union(&overlap) == 0)
		PG_RETURN_NULL();
	distance = jaccard_distance_of(&overlap);
	PG_RETURN_BOOL(float8_gt(distance, above) && float8_le(distance, radius));
}

/* Below all distances */
#define ABOVE_NOTHING	(-1.0)

/*
 * containment_within(document, passage, radius)
 */
PG_FUNCTION_INFO_V1(simhash_containment_within);
Datum
simhash_containment_within(PG_FUNCTION_ARGS)
{
	return contains_within(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), PG_GETARG_FLOAT8(2),
						   ABOVE_NOTHING);
}

/*
 * containment_between(document, passage, radius, above)
 */
PG_FUNCTION_INFO_V1(simhash_containment_between);
Datum
simhash_containment_between(PG_FUNCTION_ARGS)
{
	return contains_within(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), PG_GETARG_FLOAT8(2),
						   PG_GETARG_FLOAT8(3));
}

/*
 * jaccard_within(a, b, radius)
 */
PG_FUNCTION_INFO_V1(simhash_jaccard_within);
Datum
simhash_jaccard_within(PG_FUNCTION_ARGS)
{
	return resembles_within(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), PG_GETARG_FLOAT8(2),
							ABOVE_NOTHING);
}

/*
 * jaccard_between(a, b, radius, above)
 */
PG_FUNCTION_INFO_V1(simhash_jaccard_between);
Datum
simhash_jaccard_between(PG_FUNCTION_ARGS)
{
	return resembles_within(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), PG_GETARG_FLOAT8(2),
							PG_GETARG_FLOAT8(3));
}

/*
 * document <%>@ ball
 */
PG_FUNCTION_INFO_V1(simhash_containment_in_ball);
Datum
simhash_containment_in_ball(PG_FUNCTION_ARGS)
{
	Datum		passage;
	float8		radius;

	if (!sketch_ball_open(PG_GETARG_DATUM(1), &passage, &radius))
		PG_RETURN_NULL();
	return contains_within(fcinfo, PG_GETARG_DATUM(0), passage, radius, ABOVE_NOTHING);
}

/*
 * array <%@ ball
 */
PG_FUNCTION_INFO_V1(simhash_jaccard_in_ball);
Datum
simhash_jaccard_in_ball(PG_FUNCTION_ARGS)
{
	Datum		center;
	float8		radius;

	if (!sketch_ball_open(PG_GETARG_DATUM(1), &center, &radius))
		PG_RETURN_NULL();
	return resembles_within(fcinfo, PG_GETARG_DATUM(0), center, radius, ABOVE_NOTHING);
}

/*
 * ball =~= ball: true if the Jaccard distance of the centers is at most the smaller radius.
 *
 * Returns false, not NULL, if a field is NULL or if neither center has elements.  Core raises
 * an error if the operator of an exclusion constraint returns NULL for values that are not
 * NULL.  Frees its memory, because core calls it in the memory context of the statement.
 */
PG_FUNCTION_INFO_V1(simhash_sketch_ball_near);
Datum
simhash_sketch_ball_near(PG_FUNCTION_ARGS)
{
	HeapTupleHeader a = get_tuple_header(PG_GETARG_DATUM(0));
	HeapTupleHeader b = get_tuple_header(PG_GETARG_DATUM(1));
	Datum		a_center;
	Datum		b_center;
	float8		a_radius;
	float8		b_radius;
	bool		near = false;

	if (sketch_ball_open(PointerGetDatum(a), &a_center, &a_radius) &&
		sketch_ball_open(PointerGetDatum(b), &b_center, &b_radius))
	{
		Overlap		overlap = hash_array_overlap(NULL, a_center, b_center);

		near = overlap_union(&overlap) > 0 &&
			float8_le(jaccard_distance_of(&overlap), a_radius) &&
			float8_le(jaccard_distance_of(&overlap), b_radius);
	}
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	PG_RETURN_BOOL(near);
}
