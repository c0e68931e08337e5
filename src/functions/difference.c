/*-------------------------------------------------------------------------
 *
 * difference.c
 *		shingle_difference(a, b, ...): the shingles in which two documents differ
 *
 * Returns the shingles that only one of the documents has, with their positions.  Keeps
 * the set of one document in memory while it reads the other document.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "functions/arguments.h"
#include "functions/shingle_set.h"
#include "text/document.h"
#include "text/encoding.h"
#include "text/locate.h"
#include "text/salt.h"

#define DIFFERENCE_COLUMNS	4

/*
 * State for one direction: one document is read, and the other one is a set.
 */
typedef struct Difference
{
	ReturnSetInfo *result;
	Datum		only_in;		/* name of the document that is read: a or b, as a text */
	SetBudget	budget;
	ShingleSet other;			/* shingles of the other document */
	int			width;			/* width of a shingle, in tokens; used for tokens only */
	int			ntokens;		/* number of tokens of the document; used for tokens only */
	int			next;			/* first token of the next shingle, from 0; used for tokens
								 * only */
} Difference;

/*
 * Initialize a difference, with an empty set and a budget of MaxAllocSize bytes.
 */
static void
begin_difference(Difference *difference, ReturnSetInfo *result, const char *only_in)
{
	salt_init();
	difference->result = result;
	difference->only_in = CStringGetTextDatum(only_in);
	difference->budget.context = AllocSetContextCreate(CurrentMemoryContext,
													   "shingles of a document",
													   ALLOCSET_DEFAULT_SIZES);
	difference->budget.limit = MaxAllocSize;
	difference->budget.allocated = 0;
	shingle_set_init(&difference->other, &difference->budget);
}

static void
end_difference(Difference *difference)
{
	MemoryContextDelete(difference->budget.context);
}

/*
 * Add a shingle to the result unless the other document has it.  A LocatedConsumer.
 */
static void
report_shingle(void *arg, const char *shingle, size_t length, Passage passage)
{
	Difference *difference = arg;
	Datum		values[DIFFERENCE_COLUMNS];
	bool		nulls[DIFFERENCE_COLUMNS] = {false};
	char	   *string;
	text	   *value;

	if (shingle_set_has(&difference->other, shingle, length))
		return;
	string = utf8_to_server(unconstify(char *, shingle), &length);
	value = cstring_to_text_with_len(string, length);
	if (string != shingle)
		pfree(string);
	values[0] = difference->only_in;
	values[1] = Int32GetDatum(passage.start + 1);
	values[2] = Int32GetDatum(passage.end - passage.start);
	values[3] = PointerGetDatum(value);
	tuplestore_putvalues(difference->result->setResult, difference->result->setDesc,
						 values, nulls);
	pfree(value);
}

/*
 * Add a shingle of tokens to the result unless the other document has it.  The n-th
 * shingle begins with the n-th token.  A ShingleConsumer.
 */
static void
report_tokens(void *arg, const char *shingle, size_t length)
{
	Difference *difference = arg;
	Passage		passage;

	passage.start = difference->next++;
	passage.end = passage.start + Min(difference->width, difference->ntokens);
	report_shingle(difference, shingle, length, passage);
}

/*
 * Add the shingles of a text that the other text does not have to the result.
 */
static void
report_text(ReturnSetInfo *result, const char *only_in, text *document, text *other,
			int width, ShingleUnit unit)
{
	Difference	difference;

	begin_difference(&difference, result, only_in);
	document_shingles(VARDATA_ANY(other), VARSIZE_ANY_EXHDR(other), width, unit,
					  shingle_set_add, &difference.other);
	locate_shingles(VARDATA_ANY(document), VARSIZE_ANY_EXHDR(document), width, unit,
					report_shingle, &difference);
	end_difference(&difference);
}

/*
 * Add the shingles of an array of tokens that the other array does not have to the result.
 */
static void
report_array(ReturnSetInfo *result, const char *only_in, ArrayType *document,
			 ArrayType *other, int width)
{
	Difference	difference;

	begin_difference(&difference, result, only_in);
	token_shingles(other, width, shingle_set_add, &difference.other);
	difference.width = width;
	difference.ntokens = array_nitems(document);
	difference.next = 0;
	token_shingles(document, width, report_tokens, &difference);
	end_difference(&difference);
}

/*
 * shingle_difference(a text, b text, width int, unit text)
 */
PG_FUNCTION_INFO_V1(simhash_shingle_difference_text);
Datum
simhash_shingle_difference_text(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int			width;
	ShingleUnit unit;

	InitMaterializedSRF(fcinfo, 0);
	if (get_shingle_arguments(fcinfo, 2, &width, &unit))
	{
		text	   *a = PG_GETARG_TEXT_PP(0);
		text	   *b = PG_GETARG_TEXT_PP(1);

		report_text(result, "a", a, b, width, unit);
		report_text(result, "b", b, a, width, unit);
	}
	return (Datum) 0;
}

/*
 * shingle_difference(a text[], b text[], width int)
 */
PG_FUNCTION_INFO_V1(simhash_shingle_difference_tokens);
Datum
simhash_shingle_difference_tokens(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int			width;
	ShingleUnit unit;

	InitMaterializedSRF(fcinfo, 0);
	if (get_shingle_arguments(fcinfo, 2, &width, &unit))
	{
		ArrayType  *a = check_array(PG_GETARG_ARRAYTYPE_P(0), "tokens");
		ArrayType  *b = check_array(PG_GETARG_ARRAYTYPE_P(1), "tokens");

		report_array(result, "a", a, b, width);
		report_array(result, "b", b, a, width);
	}
	return (Datum) 0;
}
