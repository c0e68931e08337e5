/*
 * The type simhash_ball, a center and a radius: input, output, equality and hashing
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "libpq/pqformat.h"

#include "compat.h"
#include "type/simhash_type.h"

#define RADIUS_HINT \
	errhint("A radius is -1, for no fingerprint at all, to %d.", SIMHASH_BITS)

/*
 * Return true if a number is a valid radius of a ball, in bits.
 */
static inline bool
radius_is_valid(long radius)
{
	return radius >= BALL_EMPTY && radius <= SIMHASH_BITS;
}

/*
 * Parse (fingerprint,radius).  Returns false if the syntax is wrong.  Does not check the
 * range of the radius.
 */
static bool
parse_ball(const char *s, SimHash *center, long *radius)
{
	char		digits[SIMHASH_HEX_DIGITS + 1];
	int			at = 0;
	int			end = 0;
	char	   *rest;

	if (sscanf(s, " ( %16[0-9a-fA-F] , %n", digits, &at) != 1 || at == 0 ||
		!simhash_parse_digits(digits, SIMHASH_HEX_DIGITS, center))
		return false;
	*radius = strtol(s + at, &rest, 10);	/* an overflow yields LONG_MAX, which is out
											 * of range */
	return rest > s + at && sscanf(rest, " ) %n", &end) == 0 && end > 0 && rest[end] == '\0';
}

/*
 * Return a new ball.
 */
static SimHashBall *
make_ball(SimHash center, int32 radius)
{
	SimHashBall *ball = palloc0(sizeof(SimHashBall));

	ball->center = center;
	ball->radius = radius;
	return ball;
}

PG_FUNCTION_INFO_V1(simhash_ball_in);
Datum
simhash_ball_in(PG_FUNCTION_ARGS)
{
	char	   *string = PG_GETARG_CSTRING(0);
	SimHash		center;
	long		radius;

	if (!parse_ball(string, &center, &radius))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"",
						"simhash_ball", simhash_excerpt(string, strlen(string))),
				 errhint("A ball is written as (fingerprint,radius), for example (0123456789abcdef,3). Write simhash_ball(fp, 3) for the ball around a fingerprint.")));
	if (!radius_is_valid(radius))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("radius is out of range for type %s: \"%s\"",
						"simhash_ball", simhash_excerpt(string, strlen(string))),
				 RADIUS_HINT));
	PG_RETURN_POINTER(make_ball(center, radius));
}

PG_FUNCTION_INFO_V1(simhash_ball_out);
Datum
simhash_ball_out(PG_FUNCTION_ARGS)
{
	SimHashBall *ball = PG_GETARG_SIMHASH_BALL_P(0);

	PG_RETURN_CSTRING(psprintf("(%016llx,%d)", (unsigned long long) ball->center, ball->radius));
}

PG_FUNCTION_INFO_V1(simhash_ball_recv);
Datum
simhash_ball_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	SimHash		center = pq_getmsgint64(buf);
	int32		radius = pq_getmsgint(buf, 4);

	if (!radius_is_valid(radius))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("radius %d is out of range for type %s",
						radius, "simhash_ball"),
				 RADIUS_HINT));
	PG_RETURN_POINTER(make_ball(center, radius));
}

PG_FUNCTION_INFO_V1(simhash_ball_send);
Datum
simhash_ball_send(PG_FUNCTION_ARGS)
{
	SimHashBall *ball = PG_GETARG_SIMHASH_BALL_P(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, ball->center);
	pq_sendint32(&buf, ball->radius);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/*
 * simhash_ball(simhash, bigint)
 *
 * Clamps the radius, so that the function raises no error.  In a plan, it replaces a
 * predicate, which raises no error either.
 */
PG_FUNCTION_INFO_V1(simhash_ball);
Datum
simhash_ball(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(make_ball(PG_GETARG_SIMHASH(0),
								simhash_clamp_radius(PG_GETARG_INT64(1))));
}

/*
 * Return true if the two arguments of a function have the same center and radius.  Two
 * balls that contain no fingerprint may differ, and so may two balls that contain all
 * fingerprints.
 */
static bool
balls_are_equal(FunctionCallInfo fcinfo)
{
	SimHashBall *a = PG_GETARG_SIMHASH_BALL_P(0);
	SimHashBall *b = PG_GETARG_SIMHASH_BALL_P(1);

	return a->center == b->center && a->radius == b->radius;
}

PG_FUNCTION_INFO_V1(simhash_ball_eq);
Datum
simhash_ball_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(balls_are_equal(fcinfo));
}

PG_FUNCTION_INFO_V1(simhash_ball_ne);
Datum
simhash_ball_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!balls_are_equal(fcinfo));
}

/*
 * =~=
 *
 * Returns true if each of two balls contains the center of the other.  This operator is for
 * exclusion constraints that keep rows at a distance from each other.
 */
PG_FUNCTION_INFO_V1(simhash_ball_near);
Datum
simhash_ball_near(PG_FUNCTION_ARGS)
{
	SimHashBall *a = PG_GETARG_SIMHASH_BALL_P(0);
	SimHashBall *b = PG_GETARG_SIMHASH_BALL_P(1);

	PG_RETURN_BOOL(simhash_distance(a->center, b->center) <= Min(a->radius, b->radius));
}

HASH_FUNCTIONS(simhash_ball_hash, SimHashBall *ball = PG_GETARG_SIMHASH_BALL_P(0), ball,
			   offsetof(SimHashBall, unused), (void) 0);
