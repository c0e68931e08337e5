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

/* A distance of hash_array.h */
typedef float8 (*DistanceOf) (const Overlap *overlap);

/*
 * Return, as a function's result, whether the distance of argument 0 from `center` is above
 * `above` and at most the radius.  Returns NULL if the distance is NaN, because of arrays
 * without elements.
 */
static Datum
is_within(FunctionCallInfo fcinfo, DistanceOf distance_of, Datum center, float8 radius,
		  float8 above)
{
	Overlap		overlap = hash_array_overlap(fcinfo, PG_GETARG_DATUM(0), center);
	float8		distance = distance_of(&overlap);

	if (isnan(distance))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(float8_gt(distance, above) && float8_le(distance, radius));
}

/* Below all distances */
#define ABOVE_NOTHING	(-1.0)

/*
 * Return, as a function's result, whether argument 0 is within the ball that is argument 1.
 */
static Datum
is_in_ball(FunctionCallInfo fcinfo, DistanceOf distance_of)
{
	Datum		center;
	float8		radius;

	if (!sketch_ball_open(PG_GETARG_DATUM(1), &center, &radius))
		PG_RETURN_NULL();
	return is_within(fcinfo, distance_of, center, radius, ABOVE_NOTHING);
}

/*
 * The predicates of a distance: within(a, b, radius), between(a, b, radius, above) and the
 * operator of a and a ball
 */
#define PREDICATES_OF_DISTANCE(distance_of, within, between, in_ball) \
	PG_FUNCTION_INFO_V1(within); \
	Datum \
	within(PG_FUNCTION_ARGS) \
	{ \
		return is_within(fcinfo, distance_of, PG_GETARG_DATUM(1), PG_GETARG_FLOAT8(2), \
						 ABOVE_NOTHING); \
	} \
	PG_FUNCTION_INFO_V1(between); \
	Datum \
	between(PG_FUNCTION_ARGS) \
	{ \
		return is_within(fcinfo, distance_of, PG_GETARG_DATUM(1), PG_GETARG_FLOAT8(2), \
						 PG_GETARG_FLOAT8(3)); \
	} \
	PG_FUNCTION_INFO_V1(in_ball); \
	Datum \
	in_ball(PG_FUNCTION_ARGS) \
	{ \
		return is_in_ball(fcinfo, distance_of); \
	} \
	extern Datum in_ball(PG_FUNCTION_ARGS)

/* document and passage; the operator is <%>@ */
PREDICATES_OF_DISTANCE(containment_distance_of, simhash_containment_within,
					   simhash_containment_between, simhash_containment_in_ball);

/* two arrays; the operator is <%@ */
PREDICATES_OF_DISTANCE(jaccard_distance_of, simhash_jaccard_within, simhash_jaccard_between,
					   simhash_jaccard_in_ball);

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
