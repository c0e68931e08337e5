/*-------------------------------------------------------------------------
 *
 * kind.c
 *		The kind of values that are sets of hashes: arrays of bigint
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
#include "utils/fmgrprotos.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "index/am/handler.h"
#include "index/kind.h"
#include "type/hash_array.h"

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

/* Elements of each array of an array of arrays, which a domain makes possible. */
#define ARRAY_ELEMENTS		10.0

static double
estimate_array(PlannerInfo *root, uint64 make, int strategy, Node *array, bool *unknown)
{
	return array ? estimate_elements(root, array) : ARRAY_ELEMENTS;
}

static const KindOperator array_operators[] = {
	{STRATEGY_OVERLAP, arrayoverlap},
	{STRATEGY_CONTAINMENT, simhash_containment_distance},
};

static const IndexKind array_kind = {
	.get_words = array_words,
	.type = INT8ARRAYOID,
	.length = -1,
	.several = true,
	.estimate_sought = estimate_array,
	.operators = array_operators,
	.noperators = lengthof(array_operators),
};

PG_FUNCTION_INFO_V1(simhash_sketch_kind);
Datum
simhash_sketch_kind(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&array_kind);
}
