/*
 * Order and hashing of signatures, for GROUP BY, DISTINCT and joins
 *
 * Signatures with different parameters are different.  Here, this is not an error.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "compat.h"
#include "type/minhash_type.h"

/*
 * Size in bytes of the parameters and minima, which are all that distinguishes signatures.
 */
#define HASHED_SIZE(sig)		(VARSIZE(sig) - VARHDRSZ)

static inline int
compare_numbers(uint32 a, uint32 b)
{
	return (a > b) - (a < b);
}

/*
 * Compare two signatures by their parameters, then by their minima.
 */
static int
compare_signatures(const Minhash *a, const Minhash *b)
{
	int			order = compare_numbers(a->params.bands, b->params.bands);

	if (order == 0)
		order = compare_numbers(a->params.rows, b->params.rows);
	if (order == 0)
		order = compare_numbers(a->params.unit, b->params.unit);
	if (order == 0)
		order = compare_numbers(a->params.width, b->params.width);
	for (int i = 0; order == 0 && i < minhash_length(a); i++)
		order = compare_numbers(a->minima[i], b->minima[i]);
	return order;
}

/*
 * Compare the two arguments of a function.  Frees copies of the arguments, because sorting
 * makes many calls.
 */
static int
compare_arguments(FunctionCallInfo fcinfo)
{
	Minhash    *a = PG_GETARG_MINHASH_P(0);
	Minhash    *b = PG_GETARG_MINHASH_P(1);
	int			order = compare_signatures(a, b);

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return order;
}

#define COMPARISON_OF_SIGNATURES(name, op) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_BOOL(compare_arguments(fcinfo) op 0); \
	} \
	extern Datum name(PG_FUNCTION_ARGS)

COMPARISON_OF_SIGNATURES(simhash_minhash_eq, ==);
COMPARISON_OF_SIGNATURES(simhash_minhash_ne, !=);
COMPARISON_OF_SIGNATURES(simhash_minhash_lt, <);
COMPARISON_OF_SIGNATURES(simhash_minhash_le, <=);
COMPARISON_OF_SIGNATURES(simhash_minhash_gt, >);
COMPARISON_OF_SIGNATURES(simhash_minhash_ge, >=);

PG_FUNCTION_INFO_V1(simhash_minhash_cmp);
Datum
simhash_minhash_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare_arguments(fcinfo));
}

PG_FUNCTION_INFO_V1(simhash_minhash_hash);
Datum
simhash_minhash_hash(PG_FUNCTION_ARGS)
{
	Minhash    *sig = PG_GETARG_MINHASH_P(0);
	Datum		hash = hash_any((unsigned char *) VARDATA(sig), HASHED_SIZE(sig));

	PG_FREE_IF_COPY(sig, 0);
	return hash;
}

PG_FUNCTION_INFO_V1(simhash_minhash_hash_extended);
Datum
simhash_minhash_hash_extended(PG_FUNCTION_ARGS)
{
	Minhash    *sig = PG_GETARG_MINHASH_P(0);
	Datum		hash = hash_any_extended((unsigned char *) VARDATA(sig),
										 HASHED_SIZE(sig), PG_GETARG_INT64(1));

	PG_FREE_IF_COPY(sig, 0);
	return hash;
}
