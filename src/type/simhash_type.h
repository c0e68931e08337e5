/*
 * The types simhash and simhash_ball
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_TYPE_H
#define SIMHASH_TYPE_H

#ifndef FRONTEND
#include "fmgr.h"
#endif
#include "port/pg_bitutils.h"

#include "bits.h"

/* A fingerprint is passed as an int8, and compared as an unsigned integer. */
#define DatumGetSimHash(datum)		((SimHash) DatumGetInt64(datum))
#define SimHashGetDatum(fp)			Int64GetDatum((int64) (fp))
#define PG_GETARG_SIMHASH(n)		DatumGetSimHash(PG_GETARG_DATUM(n))
#define PG_RETURN_SIMHASH(fp)		return SimHashGetDatum(fp)

/*
 * Return the Hamming distance of two fingerprints, in bits.
 */
static inline int
simhash_distance(SimHash a, SimHash b)
{
	return pg_popcount64(a ^ b);
}

/*
 * All fingerprints within `radius` of `center`, or none if the radius is -1.
 */
typedef struct SimHashBall
{
	SimHash		center;
	int32		radius;			/* in bits, BALL_EMPTY to SIMHASH_BITS */
	int32		unused;			/* zero */
} SimHashBall;

#define BALL_EMPTY					(-1)

/*
 * Clamp a radius to the range from BALL_EMPTY to SIMHASH_BITS.  A ball with the result as
 * its radius contains the same fingerprints.
 */
static inline int
simhash_clamp_radius(int64 radius)
{
	return Max(BALL_EMPTY, Min(SIMHASH_BITS, radius));
}

#define DatumGetSimHashBallP(datum)	((SimHashBall *) DatumGetPointer(datum))
#define PG_GETARG_SIMHASH_BALL_P(n)	DatumGetSimHashBallP(PG_GETARG_DATUM(n))

/*
 * Return true if a fingerprint is in a ball.
 */
static inline bool
simhash_ball_contains(const SimHashBall *ball, SimHash fp)
{
	return simhash_distance(ball->center, fp) <= ball->radius;
}

/* The text form: lower-case hexadecimal, most significant digit first. */
#define SIMHASH_HEX_DIGITS			16

extern bool simhash_parse_digits(const char *digits, int n, uint64 *value);

#ifndef FRONTEND
extern char *simhash_excerpt(const char *string, size_t length);

extern Datum simhash_in(PG_FUNCTION_ARGS);

/*
 * Define the functions name() and name_extended(), the hash functions of a type.  They hash
 * `size` bytes from `bytes` on of an argument, which `declaration` declares as a variable, and
 * then call `release`.
 */
#define HASH_FUNCTIONS(name, declaration, bytes, size, release) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		declaration; \
		Datum		hash = hash_any((const unsigned char *) (bytes), (size)); \
		\
		release; \
		return hash; \
	} \
	PG_FUNCTION_INFO_V1(name##_extended); \
	Datum \
	name##_extended(PG_FUNCTION_ARGS) \
	{ \
		declaration; \
		Datum		hash = hash_any_extended((const unsigned char *) (bytes), (size), \
											 PG_GETARG_INT64(1)); \
		\
		release; \
		return hash; \
	} \
	extern Datum name(PG_FUNCTION_ARGS)

/* The functions of operators that an index supports. */
extern Datum simhash_hamming_distance(PG_FUNCTION_ARGS);
extern Datum simhash_in_ball(PG_FUNCTION_ARGS);
extern Datum simhash_eq(PG_FUNCTION_ARGS);
extern Datum simhash_ball_near(PG_FUNCTION_ARGS);
#endif

#endif							/* SIMHASH_TYPE_H */
