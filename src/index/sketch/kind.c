/*-------------------------------------------------------------------------
 *
 * kind.c
 *		The kind of values that are sets of hashes: arrays of bigint
 *
 * The elements are the words.  NULL elements are equal to nothing, so they are none; an
 * array without any other is a row without words.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "index/am/handler.h"
#include "index/kind.h"

#define ST_SORT sort_words
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) ((*(a) > *(b)) - (*(a) < *(b)))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Elements between looks for interrupts */
#define INTERRUPT_INTERVAL	65536

/*
 * Copy the elements that are not NULL; returns their number.
 */
static int
copy_elements(ArrayType *array, int n, uint64 *words)
{
	const char *element = ARR_DATA_PTR(array);
	const uint8 *present = ARR_NULLBITMAP(array);
	int			nwords = 0;

	for (int i = 0; i < n; i++)
	{
		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (present && !(present[i / 8] & (1 << i % 8)))
			continue;
		memcpy(&words[nwords++], element, sizeof(uint64));
		element += sizeof(uint64);
	}
	return nwords;
}

/*
 * The elements of an array, each once.
 */
static void
array_words(Datum value, Words *words)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	uint64	   *word = palloc(Max(n, 1) * sizeof(uint64));
	int			nwords = 0;

	n = copy_elements(array, n, word);
	sort_words(word, n);
	for (int i = 0; i < n; i++)
		if (i == 0 || word[i] != word[i - 1])
			word[nwords++] = word[i];
	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
	words->n = nwords;
	words->word = word;
	if (nwords == 0)
		pfree(word);
}

/* Elements of each array of an array of arrays, which a domain makes possible. */
#define ARRAY_ELEMENTS		10.0

static double
estimate_array(PlannerInfo *root, int strategy, Node *array, bool *unknown)
{
	return array ? estimate_elements(root, array) : ARRAY_ELEMENTS;
}

static const KindOperator array_operators[] = {
	{STRATEGY_OVERLAP, arrayoverlap},
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
