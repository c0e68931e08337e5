/*-------------------------------------------------------------------------
 *
 * hash_array.c
 *		Sets of hashes: arrays of bigint
 *
 * The elements count once each.  NULL elements are equal to nothing, so they are none.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"

#include "compat.h"
#include "type/hash_array.h"

#define ST_SORT sort_elements
#define ST_ELEMENT_TYPE int64
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
copy_elements(ArrayType *array, int n, int64 *elements)
{
	const char *element = ARR_DATA_PTR(array);
	const uint8 *present = ARR_NULLBITMAP(array);
	int			nelements = 0;

	for (int i = 0; i < n; i++)
	{
		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (present && !(present[i / 8] & (1 << i % 8)))
			continue;
		memcpy(&elements[nelements++], element, sizeof(int64));
		element += sizeof(int64);
	}
	return nelements;
}

/*
 * The elements of an array of bigint in ascending order, each once; palloc'd.  Sketches are
 * in this order, so that there is nothing to sort.
 */
int64 *
hash_array_elements(Datum value, int *n)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	int			nelements = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	int64	   *element = palloc(Max(nelements, 1) * sizeof(int64));

	nelements = copy_elements(array, nelements, element);
	sort_elements(element, nelements);
	*n = 0;
	for (int i = 0; i < nelements; i++)
		if (i == 0 || element[i] != element[i - 1])
			element[(*n)++] = element[i];
	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
	return element;
}

/*
 * How many elements of a set are not in another.
 */
static int
count_missing(const int64 *set, int n, const int64 *other, int nother)
{
	int			missing = 0;
	int			j = 0;

	for (int i = 0; i < n; i++)
	{
		while (j < nother && other[j] < set[i])
			j++;
		missing += j == nother || other[j] != set[i];
	}
	return missing;
}

/*
 * How many of the elements of `passage`, which has *n, `document` does not have.
 */
int
containment_missing(Datum document, Datum passage, int *n)
{
	int			ndocument;
	int64	   *sought = hash_array_elements(passage, n);
	int64	   *elements = hash_array_elements(document, &ndocument);
	int			missing = count_missing(sought, *n, elements, ndocument);

	pfree(sought);
	pfree(elements);
	return missing;
}

/*
 * The share of the elements of `passage` that `document` does not have, by one division;
 * NULL if it has none at all.
 */
static Datum
containment_distance(FunctionCallInfo fcinfo, Datum document, Datum passage)
{
	int			n;
	int			missing = containment_missing(document, passage, &n);

	if (n == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((float8) missing / n);
}

/*
 * document <%>> passage
 */
PG_FUNCTION_INFO_V1(simhash_containment_distance);
Datum
simhash_containment_distance(PG_FUNCTION_ARGS)
{
	return containment_distance(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
}

/*
 * passage <<%> document
 */
PG_FUNCTION_INFO_V1(simhash_containment_distance_of);
Datum
simhash_containment_distance_of(PG_FUNCTION_ARGS)
{
	return containment_distance(fcinfo, PG_GETARG_DATUM(1), PG_GETARG_DATUM(0));
}
