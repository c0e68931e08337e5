/*
 * shingles(...): the shingles that a fingerprint is made of, for inspection
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "compat.h"
#include "functions/arguments.h"
#include "text/encoding.h"

/*
 * An array of text under construction: the header, which is filled in at the end, and the
 * elements in their final form.  An ArrayBuildState would take several times the memory.
 */
typedef struct ShingleArray
{
	StringInfoData data;
	int			nelements;
} ShingleArray;

/*
 * Append a shingle to a ShingleArray.  Raises an error as soon as the array exceeds
 * MaxAllocSize, because wide shingles of a long text take many times the memory of the
 * text.  A ShingleConsumer.
 */
static void
collect_shingle(void *arg, const char *shingle, size_t length)
{
	ShingleArray *array = arg;
	char	   *string = utf8_to_server(unconstify(char *, shingle), &length);
	size_t		size = INTALIGN(VARHDRSZ + length);
	char	   *element;

	if (size > MaxAllocSize - array->data.len - 1)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the shingles do not fit into an array"),
				 errdetail("The shingles take more than %zu bytes.", (size_t) MaxAllocSize),
				 errhint("Use a part of the text, or a smaller shingle width.")));
	enlargeStringInfo(&array->data, size);
	element = array->data.data + array->data.len;
	memset(element + size - sizeof(int32), 0, sizeof(int32));	/* padding */
	SET_VARSIZE(element, VARHDRSZ + length);
	memcpy(VARDATA(element), string, length);
	array->data.len += size;
	array->nelements++;
	if (string != shingle)
		pfree(string);
}

static Datum
finish_array(ShingleArray *array)
{
	ArrayType  *result = (ArrayType *) array->data.data;

	if (array->nelements == 0)
		return PointerGetDatum(construct_empty_array(TEXTOID));
	SET_VARSIZE(result, array->data.len);
	result->ndim = 1;
	result->dataoffset = 0;		/* no NULLs */
	result->elemtype = TEXTOID;
	ARR_DIMS(result)[0] = array->nelements;
	ARR_LBOUND(result)[0] = 1;
	return PointerGetDatum(result);
}

/*
 * shingles(body text, width int, unit text) and shingles(tokens text[], width int)
 */
PG_FUNCTION_INFO_V1(simhash_shingles);
Datum
simhash_shingles(PG_FUNCTION_ARGS)
{
	ShingleArray shingles = {.nelements = 0};
	Cut			cut;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	cut = get_cut(fcinfo, 1, shingle_default_width);
	initStringInfo(&shingles.data);
	enlargeStringInfo(&shingles.data, ARR_OVERHEAD_NONULLS(1));
	shingles.data.len = ARR_OVERHEAD_NONULLS(1);
	cut_document(PG_GETARG_DATUM(0), &cut, collect_shingle, &shingles);
	PG_RETURN_DATUM(finish_array(&shingles));
}
