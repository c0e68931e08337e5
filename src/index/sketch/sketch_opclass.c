/*-------------------------------------------------------------------------
 *
 * sketch_opclass.c
 *		Operator class of sets of hashes: arrays of bigint
 *
 * The elements are the words; an array without any is a row without words.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "index/opclass.h"
#include "index/strategy.h"
#include "planner/predicate.h"
#include "type/hash_array.h"

static bool
has_nulls(Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	bool		result = array_contains_nulls(array);

	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
	return result;
}

/*
 * The elements as unsigned numbers: the negative ones come last.
 */
static void
array_words(Datum value, Words *words)
{
	int			n;
	int64	   *element = hash_array_elements(value, &n);
	uint64	   *word = palloc(Max(n, 1) * sizeof(uint64));
	int			nnegative = 0;

	while (nnegative < n && element[nnegative] < 0)
		nnegative++;
	memcpy(word, element + nnegative, (n - nnegative) * sizeof(uint64));
	memcpy(word + n - nnegative, element, nnegative * sizeof(uint64));
	pfree(element);
	words->n = n;
	words->word = word;
	if (n == 0)
		pfree(word);
}

/*
 * Those of the argument, any one of which is enough, or all; of a ball, those of its passage,
 * and as many as the radius takes.
 */
static bool
sought_words(const ScanKeyData *key, Words *words)
{
	Datum		array = key->sk_argument;
	float8		radius = 0;

	words->n = 0;
	if (key->sk_strategy == STRATEGY_WITHIN &&
		!containment_ball_open(key->sk_argument, &array, &radius))
		return true;
	if (key->sk_strategy == STRATEGY_CONTAINS && has_nulls(array))
		return true;			/* no array contains NULL */
	array_words(array, words);
	if (key->sk_strategy == STRATEGY_OVERLAP)
		return true;
	if (words->n == 0)			/* all contain it, and none is at a distance from it */
		return key->sk_strategy == STRATEGY_WITHIN;
	words->least = words->n - containment_max_missing(words->n, radius);
	if (words->least > words->n)
		words->n = 0;
	return words->least > 0;
}

/* Elements of each array of an array of arrays, which a domain makes possible. */
#define ARRAY_ELEMENTS		10.0

/*
 * The words of an array; of a ball, those of its passage.  All arrays are within a radius of
 * 1, and contain an empty one.
 */
static double
estimate_array(PlannerInfo *root, int32 params, int strategy, const OpExpr *clause,
			   bool *unknown)
{
	Node	   *array = clause ? lsecond(clause->args) : NULL;
	double		n;

	if (array && strategy == STRATEGY_WITHIN)
	{
		Predicate	predicate;
		Selectivity otherwise;
		bool		known;

		if (!predicate_read_ball(root, &distance_containment, clause->opno, clause->args,
								 &predicate, &otherwise))
			return 0;
		if (float8_ge(predicate_fraction_radius(root, predicate.radius, &known), 1))
			return HUGE_VAL;
		*unknown |= !known;
		array = predicate.b;
	}
	n = array ? estimate_elements(root, array) : ARRAY_ELEMENTS;
	return strategy == STRATEGY_CONTAINS && n == 0 ? HUGE_VAL : n;
}

static const OpclassOperator array_operators[] = {
	{STRATEGY_OVERLAP, arrayoverlap},
	{STRATEGY_WITHIN, simhash_containment_in_ball},
	{STRATEGY_CONTAINS, arraycontains},
	{STRATEGY_CONTAINMENT, simhash_containment_distance},
};

static const MultiKeyMethods array_methods = {
	.get_words = array_words,
	.get_sought = sought_words,
	.estimate_sought = estimate_array,
};

static const Opclass array_opclass = {
	.type = INT8ARRAYOID,
	.length = -1,
	.operators = array_operators,
	.noperators = lengthof(array_operators),
	.multi_key = &array_methods,
};

PG_FUNCTION_INFO_V1(simhash_sketch_opclass);
Datum
simhash_sketch_opclass(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&array_opclass);
}
