/*
 * Estimates for sets, from their signatures
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "compat.h"
#include "type/minhash_type.h"

/*
 * The first two arguments of a function.  They have the same parameters.
 */
typedef struct Pair
{
	Minhash    *a;
	Minhash    *b;
	int			n;				/* length of each signature, in minima */
} Pair;

/*
 * Return the first two arguments of a function.  Raises an error if their parameters
 * differ.
 */
static Pair
get_pair(FunctionCallInfo fcinfo)
{
	Pair		pair;

	pair.a = PG_GETARG_MINHASH_P(0);
	pair.b = PG_GETARG_MINHASH_P(1);
	minhash_check_comparable(pair.a, pair.b);
	pair.n = minhash_length(pair.a);
	return pair;
}

/* Free copies of the arguments.  A search compares many pairs in one memory context. */
#define FREE_PAIR(pair) \
	do { \
		PG_FREE_IF_COPY((pair).a, 0); \
		PG_FREE_IF_COPY((pair).b, 1); \
	} while (0)

/*
 * jaccard(a, b)
 *
 * Returns the fraction of minima that are equal.  The probability that a minimum is equal
 * in both signatures is the resemblance of the sets.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_jaccard);
Datum
simhash_minhash_jaccard(PG_FUNCTION_ARGS)
{
	Pair		pair = get_pair(fcinfo);
	int			equal = minima_count_equal(pair.a->minima, pair.b->minima, pair.n);

	FREE_PAIR(pair);
	PG_RETURN_FLOAT8((double) equal / pair.n);
}

/*
 * <%>, jaccard_distance(a, b)
 *
 * Returns the fraction of minima that differ.  Uses one division, because jaccard(a, b)
 * may be rounded.  With 1 - jaccard(a, b), a signature with d of n different minima might
 * not be within d / n.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_distance);
Datum
simhash_minhash_distance(PG_FUNCTION_ARGS)
{
	Pair		pair = get_pair(fcinfo);
	int			equal = minima_count_equal(pair.a->minima, pair.b->minima, pair.n);

	FREE_PAIR(pair);
	PG_RETURN_FLOAT8((float8) (pair.n - equal) / pair.n);
}

/*
 * %, shares_band(a, b)
 *
 * LSH banding.  Returns true if all minima of at least one band are equal.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_shares_band);
Datum
simhash_minhash_shares_band(PG_FUNCTION_ARGS)
{
	Pair		pair = get_pair(fcinfo);
	bool		shares = minima_share_band(pair.a->minima, pair.b->minima,
										   pair.a->params.bands, pair.a->params.rows);

	FREE_PAIR(pair);
	PG_RETURN_BOOL(shares);
}

/*
 * containment(a, b)
 *
 * Returns an estimate of the fraction of a's features that b contains, from 0 to 1.  Each
 * minimum of the union of a and b belongs to a random feature of the union.  The estimate
 * takes the minima whose feature is in a, and is the fraction of these whose feature is in
 * b, too.  So no cardinality has to be estimated.  Returns NULL if a has the feature of no
 * minimum, because a has very few features compared to b.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_containment);
Datum
simhash_minhash_containment(PG_FUNCTION_ARGS)
{
	Pair		pair = get_pair(fcinfo);
	int			equal = minima_count_equal(pair.a->minima, pair.b->minima, pair.n);
	int			first = minima_count_first(pair.a->minima, pair.b->minima, pair.n);

	FREE_PAIR(pair);
	if (first == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) equal / first);
}

PG_FUNCTION_INFO_V1(simhash_minhash_cardinality);
Datum
simhash_minhash_cardinality(PG_FUNCTION_ARGS)
{
	Minhash    *sig = PG_GETARG_MINHASH_P(0);
	double		cardinality = minima_cardinality(sig->minima, minhash_length(sig));

	PG_FREE_IF_COPY(sig, 0);
	PG_RETURN_FLOAT8(cardinality);
}
