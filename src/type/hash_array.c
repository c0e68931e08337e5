/*
 * Sets of hashes: arrays of bigint
 *
 * Equal elements count once.  NULL elements are ignored, since they are equal to nothing.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"

#include "bits.h"
#include "compat.h"
#include "digest/hash_list.h"
#include "type/hash_array.h"

/* Number of elements between checks for interrupts. */
#define INTERRUPT_INTERVAL	65536

/*
 * Copy the elements of an array of n elements to elements[], without NULLs.  Returns the
 * number of elements copied.
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
 * Return the distinct elements of an array of bigint as a palloc'd array, in ascending
 * order.  Sets *n to their number.  Checks for interrupts.
 */
int64 *
hash_array_elements(Datum value, int *n)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	int			nelements = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	int64	   *element = palloc(Max(nelements, 1) * sizeof(int64));

	*n = sort_distinct((uint64 *) element, copy_elements(array, nelements, element));
	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
	return element;
}

/*
 * Return true if an array contains NULLs.
 */
bool
hash_array_has_nulls(Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	bool		result = array_contains_nulls(array);

	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
	return result;
}

/*
 * Return true if a sorted set of n elements contains an element.
 */
static bool
has_element(const int64 *set, int n, int64 element)
{
	int			low = 0;
	int			high = n;

	FIND_FIRST(low, high, i, set[i] < element);
	return low < n && set[low] == element;
}

/*
 * Cache of the passage of a function's last call.  The next call usually has the same passage.
 */
typedef struct PassageCache
{
	Size		size;
	char	   *value;			/* the array, detoasted */
	int64	   *element;
	int			n;
} PassageCache;

/*
 * Return the PassageCache of a passage.  If the last call of the function had another
 * passage, replaces the cache.
 */
static PassageCache *
get_passage(FunctionCallInfo fcinfo, Datum value)
{
	PassageCache *passage = fcinfo->flinfo->fn_extra;
	ArrayType  *array = DatumGetArrayTypeP(value);
	MemoryContext old_context;

	if (passage == NULL || passage->size != VARSIZE(array) ||
		memcmp(passage->value, array, VARSIZE(array)) != 0)
	{
		old_context = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
		if (passage)
		{
			pfree(passage->value);
			pfree(passage->element);
			pfree(passage);
			fcinfo->flinfo->fn_extra = NULL;
		}
		passage = palloc(sizeof(PassageCache));
		passage->size = VARSIZE(array);
		passage->value = MemoryContextAllocHuge(CurrentMemoryContext, passage->size);
		memcpy(passage->value, array, passage->size);
		passage->element = hash_array_elements(PointerGetDatum(array), &passage->n);
		fcinfo->flinfo->fn_extra = passage;
		MemoryContextSwitchTo(old_context);
	}
	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
	return passage;
}

/*
 * Count the elements that two sets have in common.  Both are arrays in ascending order.
 * Checks for interrupts.
 */
Overlap
sorted_overlap(const int64 *a, int na, const int64 *b, int nb)
{
	Overlap		overlap = {.a = na,.b = nb};

	for (int i = 0; i < na; i++)
	{
		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		overlap.both += has_element(b, nb, a[i]);
	}
	return overlap;
}

/*
 * Count the distinct elements of the arrays a and b.  Checks for interrupts.  Caches the elements
 * of b for the next call, unless fcinfo is NULL.  Then it leaves no memory allocated.
 */
Overlap
hash_array_overlap(FunctionCallInfo fcinfo, Datum a, Datum b)
{
	const PassageCache *query = fcinfo ? get_passage(fcinfo, b) : NULL;
	int			na;
	int			nb = query ? query->n : 0;
	int64	   *element_a = hash_array_elements(a, &na);
	int64	   *element_b = query ? query->element : hash_array_elements(b, &nb);
	Overlap		overlap = sorted_overlap(element_a, na, element_b, nb);

	pfree(element_a);
	if (query == NULL)
		pfree(element_b);
	return overlap;
}

/*
 * document <%>> passage: the fraction of the distinct elements of `passage` that `document`
 * lacks.  Returns NULL if `passage` has no elements.
 */
PG_FUNCTION_INFO_V1(simhash_containment_distance);
Datum
simhash_containment_distance(PG_FUNCTION_ARGS)
{
	Overlap		overlap = hash_array_overlap(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));

	if (overlap.b == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(containment_distance_of(&overlap));
}

/*
 * a <%> b: the fraction of the distinct elements of a and b that are not in both.  Returns
 * NULL if neither has elements.
 */
PG_FUNCTION_INFO_V1(simhash_array_distance);
Datum
simhash_array_distance(PG_FUNCTION_ARGS)
{
	Overlap		overlap = hash_array_overlap(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));

	if (overlap_union(&overlap) == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(jaccard_distance_of(&overlap));
}

/*
 * sketch_overlaps(a, b), the same as a && b
 */
PG_FUNCTION_INFO_V1(simhash_sketch_overlaps);
Datum
simhash_sketch_overlaps(PG_FUNCTION_ARGS)
{
	Overlap		overlap = hash_array_overlap(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));

	PG_RETURN_BOOL(overlap.both > 0);
}

/*
 * sketch_contained(a, b), the same as a <@ b.  An array with a NULL is in no other array.
 */
PG_FUNCTION_INFO_V1(simhash_sketch_contained);
Datum
simhash_sketch_contained(PG_FUNCTION_ARGS)
{
	int			nelements;
	int64	   *elements;
	const PassageCache *query;
	bool		contained = true;

	if (hash_array_has_nulls(PG_GETARG_DATUM(0)))
		PG_RETURN_BOOL(false);
	query = get_passage(fcinfo, PG_GETARG_DATUM(1));
	elements = hash_array_elements(PG_GETARG_DATUM(0), &nelements);
	for (int i = 0; i < nelements && contained; i++)
	{
		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		contained = has_element(query->element, query->n, elements[i]);
	}
	pfree(elements);
	PG_RETURN_BOOL(contained);
}
