/*-------------------------------------------------------------------------
 *
 * shingles.c
 *		shingles(...): what a fingerprint is made of, to look at
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "compat.h"
#include "text/arguments.h"
#include "text/document.h"
#include "text/encoding.h"

static void
collect_shingle(void *arg, const char *shingle, size_t length)
{
	ArrayBuildState *shingles = arg;
	char	   *string = utf8_to_server(unconstify(char *, shingle), &length);
	text	   *element = cstring_to_text_with_len(string, length);

	/* copies the element */
	accumArrayResult(shingles, PointerGetDatum(element), false, TEXTOID,
					 CurrentMemoryContext);
	pfree(element);
	if (string != shingle)
		pfree(string);
}

/*
 * shingles(body text, width int, unit text)
 */
PG_FUNCTION_INFO_V1(simhash_shingles_text);
Datum
simhash_shingles_text(PG_FUNCTION_ARGS)
{
	text	   *body = PG_GETARG_TEXT_PP(0);
	int			width = check_width(PG_GETARG_INT32(1));
	ShingleUnit unit = check_unit(PG_GETARG_TEXT_PP(2));
	ArrayBuildState *shingles = initArrayResult(TEXTOID, CurrentMemoryContext, true);

	document_shingles(VARDATA_ANY(body), VARSIZE_ANY_EXHDR(body), width, unit,
					  collect_shingle, shingles);
	PG_RETURN_DATUM(makeArrayResult(shingles, CurrentMemoryContext));
}

/*
 * shingles(tokens text[], width int)
 */
PG_FUNCTION_INFO_V1(simhash_shingles_tokens);
Datum
simhash_shingles_tokens(PG_FUNCTION_ARGS)
{
	ArrayType  *tokens = check_array(PG_GETARG_ARRAYTYPE_P(0), "tokens");
	int			width = check_width(PG_GETARG_INT32(1));
	ArrayBuildState *shingles = initArrayResult(TEXTOID, CurrentMemoryContext, true);

	token_shingles(tokens, width, collect_shingle, shingles);
	PG_RETURN_DATUM(makeArrayResult(shingles, CurrentMemoryContext));
}
