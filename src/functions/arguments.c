/*
 * Checks of the arguments of SQL functions
 *
 * Each check raises an error with a hint that says what to write instead.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "utils/float.h"

#include "compat.h"
#include "digest/accumulate.h"
#include "functions/arguments.h"
#include "type/simhash_type.h"

/*
 * Return the index of a text among n names.  Raises an error if it is none of them.  `what`
 * is what the names are of, in the error message.
 */
int
get_name(const text *given, const char *const *names, int n, const char *what, const char *hint)
{
	const char *string = VARDATA_ANY(given);
	size_t		length = VARSIZE_ANY_EXHDR(given);

	for (int i = 0; i < n; i++)
		if (length == strlen(names[i]) && memcmp(string, names[i], length) == 0)
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized %s \"%s\"", what, simhash_excerpt(string, length)),
			 errhint("%s", hint)));
}

/*
 * Check that a number is `min` to `max`, and return it.  Otherwise raises an error.  `name`
 * is the number's name in the error message.  `hint` may contain %d, for max.
 */
int
check_range(int32 number, int32 min, int32 max, const char *name, const char *hint)
{
	if (number < min || number > max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s %d is out of range", name, number),
				 errhint(hint, max)));
	return number;
}

/*
 * Return the unit of shingles that argument i names, or the default if the argument is
 * NULL.  Raises an error if there is no such unit.
 */
ShingleUnit
get_unit(FunctionCallInfo fcinfo, int i)
{
	static const char *const units[] = {[UNIT_WORD] = "word", [UNIT_CHAR] = "char"};

	if (PG_ARGISNULL(i))
		return SHINGLE_DEFAULT_UNIT;
	return (ShingleUnit) get_name(PG_GETARG_TEXT_PP(i), units, lengthof(units), "shingle unit",
								  "Available units are \"word\" and \"char\".");
}

/*
 * Read how to cut the documents that a function has as its first arguments.  `i` is the
 * number of the argument with the width of shingles.  A function of texts has the unit as
 * its next argument.  A function of arrays of tokens has no such argument.  If the width or
 * the unit is NULL, uses its default.
 */
Cut
get_cut(FunctionCallInfo fcinfo, int i, int (*default_width) (ShingleUnit unit))
{
	Cut			cut;

	cut.is_array = PG_NARGS() == i + 1;
	cut.unit = cut.is_array ? UNIT_WORD : get_unit(fcinfo, i + 1);
	cut.width = PG_ARGISNULL(i) ? default_width(cut.unit) :
		check_range(PG_GETARG_INT32(i), 1, SHINGLE_MAX_WIDTH, "shingle width",
					"A width is 1 to %d.");
	return cut;
}

/*
 * Call the consumer with each shingle of a document, which is a text or an array of tokens.
 * Frees a detoasted copy of the document.  Raises an error unless an array has at
 * most one dimension and no NULL.  Checks for interrupts.
 */
void
cut_document(Datum document, const Cut *cut, ShingleConsumer consume, void *arg)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(document);
	struct varlena *value;

	if (cut->is_array)
	{
		value = pg_detoast_datum(stored);
		token_shingles(check_array((ArrayType *) value, "tokens"), cut->width, consume, arg);
	}
	else
	{
		value = pg_detoast_datum_packed(stored);
		document_shingles(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), cut->width,
						  cut->unit, consume, arg);
	}
	if (value != stored)
		pfree(value);
}

/* State of pass_tokens(): the consumer to call, and the position in the array. */
typedef struct TokenLocator
{
	LocatedConsumer consume;
	void	   *arg;
	int			ntokens;		/* number of tokens of a shingle */
	int			next;			/* first token of the next shingle, from 0 */
} TokenLocator;

/*
 * Call the consumer with a shingle and its passage.  The n-th shingle begins with the n-th
 * token.  A ShingleConsumer.
 */
static void
pass_tokens(void *arg, const char *shingle, size_t length)
{
	TokenLocator *locator = arg;
	int			start = locator->next++;

	locator->consume(locator->arg, shingle, length,
					 (Passage) {{start, 0}, {start + locator->ntokens, 0}});
}

/*
 * Call the consumer with each shingle of a document and its passage.  In the passage of an
 * array of tokens, the numbers of characters are numbers of tokens.  Raises the errors of
 * cut_document().  Checks for interrupts.
 */
void
locate_document(Datum document, const Cut *cut, LocatedConsumer consume, void *arg)
{
	if (cut->is_array)
	{
		ArrayType  *tokens = DatumGetArrayTypeP(document);
		TokenLocator locator = {
			.consume = consume,
			.arg = arg,
			.ntokens = Min(cut->width, array_nitems(tokens))
		};

		cut_document(PointerGetDatum(tokens), cut, pass_tokens, &locator);
	}
	else
	{
		text	   *body = DatumGetTextPP(document);

		locate_shingles(VARDATA_ANY(body), VARSIZE_ANY_EXHDR(body), cut->width, cut->unit,
						consume, arg);
	}
}

/*
 * Check that an array has at most one dimension and no NULL, and return it.  Otherwise
 * raises an error.  `name` is the argument's name in the error message.
 */
ArrayType *
check_array(ArrayType *array, const char *name)
{
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("%s must be a one-dimensional array", name),
				 errhint("Join its rows by unnest() and array_agg().")));
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not contain nulls", name),
				 errhint("Remove the nulls, or replace them by values.")));
	return array;
}

/*
 * Return the number of elements of an array.
 */
int
array_nitems(ArrayType *array)
{
	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
}

/*
 * Check a weight and return it as a fixed-point number, in units of 1/WEIGHT_ONE.  The
 * number is rounded half away from zero, exactly.  Adding 0.5 and truncating would round
 * the greatest float8 below 0.5 to 1.
 */
int64
check_weight(float8 weight)
{
	int64		whole;
	float8		rest;

	if (isnan(weight) || fabs(weight) > WEIGHT_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight %s is out of range", float8out_internal(weight)),
				 errhint("A weight is a number from -%d to %d; only their ratios matter.",
						 (int) WEIGHT_MAX, (int) WEIGHT_MAX)));
	weight *= WEIGHT_ONE;
	whole = (int64) weight;
	rest = weight - whole;
	return whole + (rest >= 0.5) - (rest <= -0.5);
}

/*
 * Raise the error that the sum of absolute weights exceeds MAGNITUDE_MAX.
 */
void
report_weights_overflow(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("sum of weights is out of range"),
			 errhint("Divide all weights by the same number; only their ratios matter.")));
}
