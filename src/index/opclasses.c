/*
 * Operator classes of the index
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/qunique.h"
#include "utils/fmgrprotos.h"

#include "bits.h"
#include "compat.h"
#include "index/opclass.h"
#include "planner/planner.h"
#include "type/hash_array.h"
#include "type/minhash_type.h"

/* --- fingerprints ----------------------------------------------------------------- */

static uint64
fingerprint_key(Datum value)
{
	return DatumGetSimHash(value);
}

static const Opclass fingerprint_opclass = {
	.length = sizeof(SimHash),
	.operators = {
		[STRATEGY_WITHIN] = simhash_in_ball,
		[STRATEGY_EQUAL] = simhash_eq,
		[STRATEGY_DISTANCE] = simhash_hamming_distance,
	},
	.get_key = fingerprint_key,
};

OPCLASS_FUNCTION(simhash_opclass, fingerprint_opclass);

/* --- balls of fingerprints -------------------------------------------------------- */

/*
 * Return the key of a ball, which is its center.  If two balls match (=~=), the center of
 * each ball is in the other ball.  The entry does not contain the radius, so the operator
 * is rechecked on each row.
 */
static uint64
ball_key(Datum value)
{
	return DatumGetSimHashBallP(value)->center;
}

static const Opclass ball_opclass = {
	.length = sizeof(SimHashBall),
	.recheck = true,
	.operators = {
		[STRATEGY_NEAR] = simhash_ball_near,
	},
	.get_key = ball_key,
};

OPCLASS_FUNCTION(simhash_ball_opclass, ball_opclass);

/* --- arrays ----------------------------------------------------------------------- */

/*
 * The operator class of sets of hashes, which are arrays of bigint.  The keys of an array are
 * its elements.  A row with an empty array has no keys.
 */

/*
 * Extract the keys of an array.  They are its elements as unsigned numbers, in ascending
 * order, so negative elements come last.
 */
static void
array_keys(Datum value, KeySet *keys)
{
	int			n;
	int64	   *element = hash_array_elements(value, &n);
	uint64	   *key = palloc(Max(n, 1) * sizeof(uint64));
	int			nnegative = 0;

	while (nnegative < n && element[nnegative] < 0)
		nnegative++;
	memcpy(key, element + nnegative, (n - nnegative) * sizeof(uint64));
	memcpy(key + n - nnegative, element, nnegative * sizeof(uint64));
	pfree(element);
	keys->n = n;
	keys->key = key;
	if (n == 0)
		pfree(key);
}

/*
 * Return true if the argument of an operator with this strategy is a ball.
 */
static bool
is_ball_strategy(int strategy)
{
	return strategy == STRATEGY_WITHIN || strategy == STRATEGY_RESEMBLES ||
		strategy == STRATEGY_NEAR;
}

/*
 * Return true if an operator with this strategy compares by Jaccard distance.
 */
static bool
is_jaccard_strategy(int strategy)
{
	return strategy == STRATEGY_RESEMBLES || strategy == STRATEGY_NEAR;
}

/*
 * Extract the query keys.  For && and @>, they are the keys of the argument: && needs any
 * one of them, @> needs all.  <@ needs any one of them too, or a row without keys, and is
 * rechecked: the row may have other keys or NULLs.  For <%>@, <%@ and =~=, they are the n keys
 * of the array in the ball, and at least ceil((1 - radius) * n) of them are needed.  <%@ and
 * =~= are rechecked: the row may have too many other keys, or a smaller radius.
 *
 * Returns false if every non-NULL row matches, or may match.  Returns true without keys if
 * no row with keys matches.
 */
static bool
query_array(const ScanKeyData *key, KeySet *keys)
{
	Datum		array = key->sk_argument;
	float8		radius = 0;

	keys->n = 0;
	if (is_ball_strategy(key->sk_strategy) &&
		!sketch_ball_open(key->sk_argument, &array, &radius))
		return true;
	if (key->sk_strategy == STRATEGY_CONTAINS && hash_array_has_nulls(array))
		return true;			/* no array contains NULL */
	array_keys(array, keys);
	keys->or_empty = key->sk_strategy == STRATEGY_CONTAINED;
	keys->recheck = keys->or_empty || is_jaccard_strategy(key->sk_strategy);
	if (key->sk_strategy == STRATEGY_OVERLAP || keys->or_empty)
		return true;

	/*
	 * Every array contains an empty array (@>).  A ball around an empty array contains no
	 * array by containment distance.  By Jaccard distance, it contains all arrays with
	 * elements if its radius is at least 1.
	 */
	if (keys->n == 0)
		return key->sk_strategy == STRATEGY_WITHIN ||
			(is_jaccard_strategy(key->sk_strategy) && float8_lt(radius, 1));
	keys->min_match = keys->n - max_missing(keys->n, radius);
	if (keys->min_match > keys->n)
		keys->n = 0;
	return keys->min_match > 0;
}

/*
 * Estimated number of elements of a query array, if the query is an element of an array
 * of arrays.  (A domain over bigint[] makes an array of arrays possible.)
 */
#define ARRAY_ELEMENTS		10.0

/*
 * Return the estimated number of query keys.  For &&, @>, <@ and the ORDER BY operators, it is
 * the number of elements of the argument.  For <%>@, <%@ and =~=, it is the number of elements
 * of the array in the ball.  If `clause` is NULL, it is ARRAY_ELEMENTS.
 *
 * Returns HUGE_VAL if all rows match, that is, if the radius is at least 1 or the argument
 * of @> is empty.  Returns 0 if the ball is NULL.  Sets
 * *unknown to true if the radius is not known.
 */
static double
estimate_array(PlannerInfo *root, int32 params, int strategy, const OpExpr *clause,
			   bool *unknown)
{
	Node	   *array = clause ? lsecond(clause->args) : NULL;
	double		n;

	if (array && is_ball_strategy(strategy))
	{
		Condition	ball;
		bool		known;
		double		radius;

		if (!condition_read_search(root, (Node *) clause, InvalidOid, &ball))
			return 0;
		radius = condition_radius(root, ball.distance, ball.radius, &known);
		if (radius < 0)
			return 0;
		if (float8_ge(radius, 1))
			return HUGE_VAL;
		*unknown |= !known;
		array = ball.b;
	}
	n = array ? array_count_elements(root, array) : ARRAY_ELEMENTS;
	return strategy == STRATEGY_CONTAINS && n == 0 ? HUGE_VAL : n;
}

static const MultiKeyMethods array_methods = {
	.extract_value = array_keys,
	.extract_query = query_array,
	.estimate_query_keys = estimate_array,
};

static const Opclass array_opclass = {
	.type = INT8ARRAYOID,
	.length = -1,
	.operators = {
		[STRATEGY_OVERLAP] = arrayoverlap,
		[STRATEGY_WITHIN] = simhash_containment_in_ball,
		[STRATEGY_RESEMBLES] = simhash_jaccard_in_ball,
		[STRATEGY_CONTAINS] = arraycontains,
		[STRATEGY_CONTAINED] = arraycontained,
		[STRATEGY_CONTAINMENT] = simhash_containment_distance,
		[STRATEGY_JACCARD] = simhash_array_distance,
	},
	.multi_key = &array_methods,
};

OPCLASS_FUNCTION(simhash_sketch_opclass, array_opclass);

/* --- balls of arrays -------------------------------------------------------------- */

/*
 * Extract the keys of a ball.  They do not tell its radius, so the operator is rechecked on
 * each row.  A ball with a NULL field has no keys.
 */
static void
sketch_ball_keys(Datum value, KeySet *keys)
{
	struct varlena *ball = PG_DETOAST_DATUM(value);
	Datum		center;
	float8		radius;

	if (sketch_ball_open(PointerGetDatum(ball), &center, &radius))
		array_keys(center, keys);
	if ((Pointer) ball != DatumGetPointer(value))
		pfree(ball);
}

static const MultiKeyMethods sketch_ball_methods = {
	.extract_value = sketch_ball_keys,
	.extract_query = query_array,
	.estimate_query_keys = estimate_array,
};

static const Opclass sketch_ball_opclass = {
	.type = RECORDOID,
	.length = -1,
	.recheck = true,
	.operators = {
		[STRATEGY_NEAR] = simhash_sketch_ball_near,
	},
	.multi_key = &sketch_ball_methods,
};

OPCLASS_FUNCTION(simhash_sketch_ball_opclass, sketch_ball_opclass);

/* --- signatures ------------------------------------------------------------------- */

/*
 * A key is a hash of a band and the band's number.  Signatures that share a band have a
 * common key.  If hashes collide, other signatures have a common key, too.  So the
 * operator is rechecked on each row.
 */

/*
 * Extract the keys of a signature, one for each band, in ascending order without
 * duplicates.
 */
static void
signature_keys(Datum value, KeySet *keys)
{
	Minhash    *sig = minhash_detoast(value);
	int			bands = sig->params.bands;
	uint64	   *key = palloc(bands * sizeof(uint64));

	for (int i = 0; i < bands; i++)
		key[i] = minhash_band_key(sig, i);
	qsort(key, bands, sizeof(uint64), bits_compare);
	keys->n = qunique(key, bands, sizeof(uint64), bits_compare);
	keys->key = key;
	keys->params = minhash_typmod(sig->params);
	if ((Pointer) sig != DatumGetPointer(value))
		pfree(sig);
}

/*
 * Extract the query keys, which are the keys of the argument.  Every matching row contains
 * at least one of them.
 */
static bool
query_bands(const ScanKeyData *key, KeySet *keys)
{
	signature_keys(key->sk_argument, keys);
	return true;
}

/*
 * Return the estimated number of query keys, which is the number of bands.  typmod has the
 * parameters of the index.  If they are unknown, returns MINHASH_DEFAULT_BANDS.
 */
static double
estimate_bands(PlannerInfo *root, int32 typmod, int strategy, const OpExpr *clause,
			   bool *unknown)
{
	MinhashParams params = minhash_params_of_typmod(typmod);

	return minhash_params_are_valid(params) ? params.bands : MINHASH_DEFAULT_BANDS;
}

static const MultiKeyMethods signature_methods = {
	.extract_value = signature_keys,
	.extract_query = query_bands,
	.estimate_query_keys = estimate_bands,
};

static const Opclass signature_opclass = {
	.length = -1,
	.recheck = true,
	.operators = {
		[STRATEGY_SHARES_BAND] = simhash_minhash_shares_band,
	},
	.multi_key = &signature_methods,
	.has_params = true,
};

OPCLASS_FUNCTION(simhash_minhash_opclass, signature_opclass);
