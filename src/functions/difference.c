/*
 * shingle_difference(a, b, ...): the shingles in which two documents differ
 *
 * Returns the shingles that only one of the documents has, with their positions.  Keeps
 * the set of one document in memory while it reads the other document.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "functions/arguments.h"
#include "functions/shingle_set.h"
#include "text/encoding.h"
#include "type/minhash_type.h"

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
} Difference;

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

	if (shingle_set_find(&difference->other, shingle, length))
		return;
	string = utf8_to_server(unconstify(char *, shingle), &length);
	value = cstring_to_text_with_len(string, length);
	if (string != shingle)
		pfree(string);
	values[0] = difference->only_in;
	values[1] = Int32GetDatum(passage.start.character + 1);
	values[2] = Int32GetDatum(passage.end.character - passage.start.character);
	values[3] = PointerGetDatum(value);
	tuplestore_putvalues(difference->result->setResult, difference->result->setDesc,
						 values, nulls);
	pfree(value);
}

/*
 * Add the shingles of a document that the other document does not have to the result.
 */
static void
report_document(ReturnSetInfo *result, const char *only_in, Datum document, Datum other,
				const Cut *cut)
{
	Difference	difference = {.result = result,.only_in = CStringGetTextDatum(only_in)};

	shingle_set_begin(&difference.other, &difference.budget,
					  AllocSetContextCreate(CurrentMemoryContext, "shingles of a document",
											ALLOCSET_DEFAULT_SIZES));
	cut_document(other, cut, shingle_set_add, &difference.other);
	locate_document(document, cut, report_shingle, &difference);
	MemoryContextDelete(difference.budget.context);
}

/*
 * shingle_difference(a text, b text, width int, unit text) and shingle_difference(a text[],
 * b text[], width int)
 */
PG_FUNCTION_INFO_V1(simhash_shingle_difference);
Datum
simhash_shingle_difference(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Cut			cut;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	cut = get_cut(fcinfo, 2, minhash_default_width);
	report_document(result, "a", PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), &cut);
	report_document(result, "b", PG_GETARG_DATUM(1), PG_GETARG_DATUM(0), &cut);
	return (Datum) 0;
}
