/*-------------------------------------------------------------------------
 *
 * minhash_ball.c
 *		The type minhash_ball: a signature and a radius; input, output, and what is in one
 *
 * The text form is (signature,radius), for example (2x1:word3:01234567-89abcdef,0.1).
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "compat.h"
#include "type/minhash.h"

static MinhashBall *
make_ball(const Minhash *center, float8 radius)
{
	size_t		size = sizeof(MinhashBall) + VARSIZE(center);
	MinhashBall *ball = palloc0(size);

	SET_VARSIZE(ball, size);
	ball->radius = radius;
	memcpy(minhash_ball_center(ball), center, VARSIZE(center));
	return ball;
}

/*
 * The ball of a datum, which may be stored out of line.
 */
MinhashBall *
minhash_ball_detoast(Datum value)
{
	MinhashBall *ball = (MinhashBall *) PG_DETOAST_DATUM(value);

	if (VARSIZE(ball) < sizeof(MinhashBall) + MINHASH_SIZE(1) ||
		VARSIZE(ball) != sizeof(MinhashBall) + VARSIZE(minhash_ball_center(ball)))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored value of type %s is damaged", "minhash_ball")));
	minhash_check(minhash_ball_center(ball));
	return ball;
}

PG_FUNCTION_INFO_V1(simhash_minhash_ball_in);
Datum
simhash_minhash_ball_in(PG_FUNCTION_ARGS)
{
	char	   *string = PG_GETARG_CSTRING(0);
	char	   *comma = strrchr(string, ',');
	char	   *end = comma;
	float8		radius = 0;
	Minhash    *center;

	if (comma && string[0] == '(')
		radius = read_float8(comma + 1, &end, "minhash_ball", comma + 1, fcinfo->context);
	if (SOFT_ERROR_OCCURRED(fcinfo->context))
		PG_RETURN_NULL();
	if (comma == NULL || string[0] != '(' || strcmp(end, ")") != 0)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", "minhash_ball"),
				 errhint("A ball is written as (signature,radius), for example (2x1:word3:01234567-89abcdef,0.1).")));
	center = minhash_read(pnstrdup(string + 1, comma - string - 1), -1, fcinfo->context);
	if (center == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(make_ball(center, radius));
}

PG_FUNCTION_INFO_V1(simhash_minhash_ball_out);
Datum
simhash_minhash_ball_out(PG_FUNCTION_ARGS)
{
	MinhashBall *ball = PG_GETARG_MINHASH_BALL_P(0);

	PG_RETURN_CSTRING(psprintf("(%s,%s)", minhash_write(minhash_ball_center(ball)),
							   float8out_internal(ball->radius)));
}

/*
 * The binary form: the radius, then that of the signature.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_ball_recv);
Datum
simhash_minhash_ball_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	float8		radius = pq_getmsgfloat8(buf);

	PG_RETURN_POINTER(make_ball(minhash_receive(buf, -1), radius));
}

PG_FUNCTION_INFO_V1(simhash_minhash_ball_send);
Datum
simhash_minhash_ball_send(PG_FUNCTION_ARGS)
{
	MinhashBall *ball = PG_GETARG_MINHASH_BALL_P(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendfloat8(&buf, ball->radius);
	minhash_send(&buf, minhash_ball_center(ball));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/*
 * minhash_ball(minhash, double precision): any radius, so that it cannot fail where the
 * predicate it stands for does not.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_ball);
Datum
simhash_minhash_ball(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(make_ball(PG_GETARG_MINHASH_P(0), PG_GETARG_FLOAT8(1)));
}

/*
 * minhash <@ minhash_ball
 */
PG_FUNCTION_INFO_V1(simhash_minhash_in_ball);
Datum
simhash_minhash_in_ball(PG_FUNCTION_ARGS)
{
	Minhash    *sig = PG_GETARG_MINHASH_P(0);
	MinhashBall *ball = PG_GETARG_MINHASH_BALL_P(1);
	Minhash    *center = minhash_ball_center(ball);
	bool		result;

	minhash_check_comparable(sig, center);
	result = float8_le(minhash_distance(sig, center), ball->radius);
	PG_FREE_IF_COPY(sig, 0);
	PG_FREE_IF_COPY(ball, 1);
	PG_RETURN_BOOL(result);
}

PG_FUNCTION_INFO_V1(simhash_minhash_ball_contains);
Datum
simhash_minhash_ball_contains(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall2(simhash_minhash_in_ball, PG_GETARG_DATUM(1),
							   PG_GETARG_DATUM(0));
}
