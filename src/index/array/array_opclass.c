/*
 * Operator classes of sets of hashes, which are arrays of bigint, and of balls of them
 *
 * The keys of an array are its elements.  A row with an empty array has no keys.  The keys of
 * a ball are those of its center.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/fmgrprotos.h"

#include "compat.h"
#include "index/opclass.h"
#include "planner/planner.h"
#include "type/hash_array.h"

/* --- sets ------------------------------------------------------------------------ */

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

/* --- balls ------------------------------------------------------------------------- */

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
