/*
 * shingle_hashes(...), sketch(...), winnow(...), winnow_hashes(...): an array of all or some
 * of the hashes of a text's shingles, or of given hashes; scoped_hashes(...)
 *
 * sketch(modulus) is a 0 mod p sketch: the hashes that are multiples of the modulus
 * (Manber; Broder's MOD_m).  winnow(guarantee) selects the smallest hash of each window
 * (winnow.h).
 *
 * Texts that have a passage in common have elements in common.  A text without shingles
 * has nothing in common with any other text, so its array is empty, not NULL.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "compat.h"
#include "digest/hash_list.h"
#include "digest/winnow.h"
#include "functions/arguments.h"
#include "text/hash.h"
#include "type/minhash_type.h"

#define GUARANTEE_MAX		WINDOW_MAX

/* Default guarantee, as a multiple of the shingle width. */
#define DEFAULT_GUARANTEE	3

/*
 * Raise the error that a sketch would have more than HASH_LIST_MAX elements.
 */
static void
report_too_many(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("a sketch has more than %d elements", HASH_LIST_MAX),
			 errhint("Use chunks of the text, cut by text_windows(), or a greater modulus or guarantee.")));
}

static void
add_hash(HashList *list, uint64 hash)
{
	if (!hash_list_add(list, hash))
		report_too_many();
}

/*
 * Return the elements as a function's result, an array in ascending order.  Frees the
 * sketch.  Raises an error if there are more than HASH_LIST_MAX elements.
 */
static Datum
finish_list(HashList *list)
{
	ArrayType  *array;
	size_t		size;

	if (!hash_list_finish(list))
		report_too_many();
	if (list->n == 0)
		return PointerGetDatum(construct_empty_array(INT8OID));
	size = ARR_OVERHEAD_NONULLS(1) + list->n * sizeof(int64);
	array = palloc0(size);
	SET_VARSIZE(array, size);
	array->ndim = 1;
	array->elemtype = INT8OID;
	ARR_DIMS(array)[0] = list->n;
	ARR_LBOUND(array)[0] = 1;
	memcpy(ARR_DATA_PTR(array), list->hashes, list->n * sizeof(int64));
	pfree(list->hashes);
	return PointerGetDatum(array);
}

typedef struct ModulusSketch
{
	HashList	list;
	uint64		modulus;
} ModulusSketch;

/*
 * Add the hash of a shingle if it is a multiple of the modulus.  A ShingleConsumer.
 */
static void
add_multiple(void *arg, const char *shingle, size_t length)
{
	ModulusSketch *of = arg;
	uint64		hash = hash_feature(shingle, length);

	if (of->modulus == 1 || hash % of->modulus == 0)
		add_hash(&of->list, hash);
}

/*
 * Return the hashes of a document's shingles that are multiples of the modulus, as a
 * function's result.  The document is argument 0.
 */
static Datum
sketch_document(FunctionCallInfo fcinfo, Cut cut, uint64 modulus)
{
	ModulusSketch of = {.modulus = modulus};

	hash_list_begin(&of.list);
	cut_document(PG_GETARG_DATUM(0), &cut, add_multiple, &of);
	return finish_list(&of.list);
}

/*
 * sketch(body text, modulus int, width int, unit text) and sketch(tokens text[], modulus
 * int, width int)
 *
 * Returns a 0 mod p sketch.  The expected fraction of hashes is 1 / modulus.
 */
PG_FUNCTION_INFO_V1(simhash_sketch);
Datum
simhash_sketch(PG_FUNCTION_ARGS)
{
	Cut			cut;
	int			modulus;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	cut = get_cut(fcinfo, 2, sketch_default_width);
	modulus = check_range(PG_GETARG_INT32(1), 1, PG_INT32_MAX, "modulus",
						  "A modulus is at least 1, which keeps all hashes. Modulus n keeps about one hash of n.");
	return sketch_document(fcinfo, cut, modulus);
}

/*
 * shingle_hashes(body text, width int, unit text) and shingle_hashes(tokens text[], width
 * int)
 *
 * Returns all hashes.
 */
PG_FUNCTION_INFO_V1(simhash_shingle_hashes);
Datum
simhash_shingle_hashes(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	return sketch_document(fcinfo, get_cut(fcinfo, 1, minhash_default_width), 1);
}

typedef struct WinnowedSketch
{
	HashList	list;
	Winnower	winnower;
} WinnowedSketch;

/*
 * Add the hash that winnowing selects after this shingle, if it selects one.  A
 * ShingleConsumer.
 */
static void
add_smallest(void *arg, const char *shingle, size_t length)
{
	WinnowedSketch *of = arg;
	uint64		selected;

	if (winnow_next(&of->winnower, hash_feature(shingle, length), &selected))
		add_hash(&of->list, selected);
}

/*
 * winnow(body text, guarantee int, width int, unit text) and winnow(tokens text[],
 * guarantee int, width int)
 *
 * Returns the smallest hash of each window of hashes.
 */
PG_FUNCTION_INFO_V1(simhash_winnow);
Datum
simhash_winnow(PG_FUNCTION_ARGS)
{
	Cut			cut;
	WinnowedSketch of;
	int32		guarantee;
	uint64		selected;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	cut = get_cut(fcinfo, 2, sketch_default_width);
	guarantee = PG_ARGISNULL(1) ? DEFAULT_GUARANTEE * cut.width :
		PG_GETARG_INT32(1);
	if (guarantee < cut.width || guarantee > GUARANTEE_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("guarantee %d is out of range for shingles of width %d",
						guarantee, cut.width),
				 errhint("A guarantee is at least the width, and at most %d.",
						 GUARANTEE_MAX)));
	hash_list_begin(&of.list);
	winnow_begin(&of.winnower, guarantee - cut.width + 1);
	cut_document(PG_GETARG_DATUM(0), &cut, add_smallest, &of);
	if (winnow_finish(&of.winnower, &selected))
		add_hash(&of.list, selected);
	return finish_list(&of.list);
}

/*
 * winnow_hashes(hashes bigint[], size int)
 *
 * Returns the smallest hash of each window of `size` hashes.
 */
PG_FUNCTION_INFO_V1(simhash_winnow_hashes);
Datum
simhash_winnow_hashes(PG_FUNCTION_ARGS)
{
	ArrayType  *array = check_array(PG_GETARG_ARRAYTYPE_P(0), "hashes");
	int			n = array_nitems(array);
	int64	   *hashes = (int64 *) ARR_DATA_PTR(array);
	int32		size = PG_GETARG_INT32(1);
	HashList	list;
	Winnower	winnower;
	uint64		selected;

	if (size < 1 || size > WINDOW_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("window of %d hashes is out of range", size),
				 errhint("A window has 1 to %d hashes.", WINDOW_MAX)));
	hash_list_begin(&list);
	winnow_begin(&winnower, size);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (winnow_next(&winnower, hashes[i], &selected))
			add_hash(&list, selected);
	}
	if (winnow_finish(&winnower, &selected))
		add_hash(&list, selected);
	PG_FREE_IF_COPY(array, 0);
	return finish_list(&list);
}

/*
 * scoped_hashes(hashes bigint[], scope text)
 *
 * Returns the hashes, hashed once more with the hash of the scope.  Distinct elements stay
 * distinct.  Sets of two scopes have an element in common by chance only.  Raises an error if
 * the scope is NULL.  A NULL result would escape a constraint.
 */
PG_FUNCTION_INFO_V1(simhash_scoped_hashes);
Datum
simhash_scoped_hashes(PG_FUNCTION_ARGS)
{
	ArrayType  *array;
	int64	   *hashes;
	uint64		scope;
	int			n;
	HashList	list;

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("scope must not be null"),
				 errhint("Give each row a scope, or replace nulls by coalesce().")));
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	scope = hash_text(PG_GETARG_TEXT_PP(1));
	array = check_array(PG_GETARG_ARRAYTYPE_P(0), "hashes");
	n = array_nitems(array);
	hashes = (int64 *) ARR_DATA_PTR(array);
	hash_list_begin(&list);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_hash(&list, hash_number(hashes[i] ^ scope));
	}
	PG_FREE_IF_COPY(array, 0);
	return finish_list(&list);
}
