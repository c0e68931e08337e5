/*
 * The type minhash: input, output, type modifiers, order, hashing, and estimates for sets
 *
 * The text form is 2x3:word5:000102030405060708090a0b-0c0d...: number of bands x rows of a
 * band, the unit of the features with the width of shingles, and the minima of each band.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/string.h"
#include "libpq/pqformat.h"
#include "port/pg_bswap.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "compat.h"
#include "type/minhash_type.h"
#include "type/simhash_type.h"

/* Number of hexadecimal digits of a minimum. */
#define MINIMUM_DIGITS		8

/*
 * Name of each MinhashUnit, whether the unit has a width, and a function call for hints:
 * its %d are bands, rows and, if the unit has one, the width.
 */
static const struct
{
	const char *name;
	bool		has_width;
	const char *call;
}			units[] = {
	[MINHASH_OF_WORDS] = {"word", true, "to_minhash(body, %d, %d, %d)"},
	[MINHASH_OF_CHARS] = {"char", true, "to_minhash(body, %d, %d, %d, 'char')"},
	[MINHASH_OF_FEATURES] = {"feature", false, "minhash_agg(feature, %d, %d)"},
	[MINHASH_OF_HASHES] = {"hash", false, "to_minhash(hashes, %d, %d)"},
};

StaticAssertDecl((int) MINHASH_OF_WORDS == (int) UNIT_WORD &&
				 (int) MINHASH_OF_CHARS == (int) UNIT_CHAR,
				 "units of shingles are units of signatures");

/*
 * Return true if a signature may have this shape.
 */
static bool
shape_is_valid(int bands, int rows)
{
	return bands >= 1 && bands <= MINHASH_MAX_BANDS && rows >= 1 && rows <= MINHASH_MAX_ROWS &&
		bands * rows <= MINHASH_MAX_LENGTH;
}

/*
 * Return true if a signature may have this shape.  Otherwise raises an error, or, if
 * `context` is not NULL, saves an error in it and returns false.
 */
bool
minhash_check_shape(int bands, int rows, struct Node *context)
{
	if (!shape_is_valid(bands, rows))
		ereturn(context, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bands %d and rows %d are out of range", bands, rows),
				 errhint("A signature has 1 to %d bands of 1 to %d rows. Bands times rows is at most %d.",
						 MINHASH_MAX_BANDS, MINHASH_MAX_ROWS, MINHASH_MAX_LENGTH)));
	return true;
}

/*
 * Return true if the features of a signature may have this unit and this width.
 */
static bool
width_is_valid(int unit, int width)
{
	if (unit < 0 || unit >= lengthof(units))
		return false;
	if (units[unit].has_width)
		return width >= 1 && width <= SHINGLE_MAX_WIDTH;
	return width == 0;
}

/*
 * Return true if a signature may have these parameters.
 */
bool
minhash_params_are_valid(MinhashParams params)
{
	return shape_is_valid(params.bands, params.rows) &&
		width_is_valid(params.unit, params.width);
}

/*
 * Allocate a signature with the given parameters.  Does not set its minima.
 */
Minhash *
minhash_new(MinhashParams params)
{
	size_t		size = MINHASH_SIZE(params.bands * params.rows);
	Minhash    *sig = palloc0(size);

	SET_VARSIZE(sig, size);
	sig->params = params;
	sig->version = MINHASH_VERSION;
	return sig;
}

/*
 * Check a stored signature and return it.  Raises an error if it is damaged, since all
 * other code relies on its parameters and its size.
 */
Minhash *
minhash_check(Minhash *sig)
{
	if (VARSIZE(sig) < MINHASH_SIZE(1) || sig->version != MINHASH_VERSION ||
		sig->unused != 0 || !minhash_params_are_valid(sig->params) ||
		VARSIZE(sig) != MINHASH_SIZE(minhash_length(sig)))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored value of type %s is damaged", "minhash"),
				 errhint("Compute the value again, and find out what damages your tables.")));
	return sig;
}

/*
 * Return the detoasted signature of a datum.  Raises an error if it is damaged.
 */
Minhash *
minhash_detoast(Datum value)
{
	return minhash_check((Minhash *) PG_DETOAST_DATUM(value));
}

/*
 * Return the parameters as text, written as in a type modifier.
 */
char *
minhash_params_name(MinhashParams params)
{
	if (!units[params.unit].has_width)
		return psprintf("(%d,%d,'%s')", params.bands, params.rows,
						units[params.unit].name);
	if (params.unit == SHINGLE_DEFAULT_UNIT &&
		params.width == minhash_default_width(SHINGLE_DEFAULT_UNIT))
		return psprintf("(%d,%d)", params.bands, params.rows);
	return psprintf("(%d,%d,'%s',%d)", params.bands, params.rows,
					units[params.unit].name, params.width);
}

/*
 * Raise an error unless two signatures have the same parameters.
 */
void
minhash_check_comparable(const Minhash *a, const Minhash *b)
{
	if (!minhash_same_params(a->params, b->params))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("signatures with different parameters cannot be compared: %s and %s",
						minhash_params_name(a->params), minhash_params_name(b->params)),
				 errhint("Make both with the same bands, rows, width and unit.")));
}

/*
 * Return true if parameters match a type modifier.  Otherwise raises or saves an error, as
 * minhash_check_shape() does.
 */
static bool
check_modifier(MinhashParams params, int32 typmod, struct Node *context)
{
	MinhashParams wanted = minhash_params_of_typmod(typmod);

	if (typmod >= 0 && !minhash_same_params(params, wanted))
		ereturn(context, false,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("signature with parameters %s does not fit type minhash%s",
						minhash_params_name(params), minhash_params_name(wanted)),
				 errhint("Make it with %s, or change the type to minhash%s.",
						 psprintf(units[wanted.unit].call, wanted.bands, wanted.rows, wanted.width),
						 minhash_params_name(params))));
	return true;
}

/*
 * Parse a number of 1 to 5 digits without leading zeros, as simhash_minhash_out() writes
 * it, and the character after it.  Returns false if they are not there.
 */
static bool
parse_number(const char **s, int *number, char after)
{
	int			ndigits = strspn(*s, "0123456789");

	if (ndigits < 1 || ndigits > 5 || **s == '0' || (*s)[ndigits] != after)
		return false;
	*number = atoi(*s);
	*s += ndigits + 1;
	return true;
}

/*
 * Parse a unit, its width if it has one, and a colon.
 */
static bool
parse_unit(const char **s, int *unit, int *width)
{
	for (*unit = 0; *unit < lengthof(units); (*unit)++)
	{
		size_t		length = strlen(units[*unit].name);

		if (strncmp(*s, units[*unit].name, length) != 0)
			continue;
		*s += length;
		*width = 0;
		return units[*unit].has_width ? parse_number(s, width, ':') : *(*s)++ == ':';
	}
	return false;
}

/*
 * Parse all minima of a signature.  Returns false if the syntax is wrong, or if characters
 * follow the minima.
 */
static bool
parse_minima(const char *s, Minhash *sig)
{
	for (int i = 0; i < minhash_length(sig); i++)
	{
		uint64		minimum;

		if (i > 0 && i % sig->params.rows == 0 && *s++ != '-')
			return false;
		if (!simhash_parse_digits(s, MINIMUM_DIGITS, &minimum))
			return false;
		sig->minima[i] = minimum;
		s += MINIMUM_DIGITS;
	}
	return *s == '\0';
}

PG_FUNCTION_INFO_V1(simhash_minhash_in);
Datum
simhash_minhash_in(PG_FUNCTION_ARGS)
{
	char	   *string = PG_GETARG_CSTRING(0);
	const char *s = string;
	int			bands;
	int			rows;
	int			unit;
	int			width;
	Minhash    *sig = NULL;

	if (parse_number(&s, &bands, 'x') && parse_number(&s, &rows, ':') &&
		parse_unit(&s, &unit, &width) && width_is_valid(unit, width))
	{
		if (!minhash_check_shape(bands, rows, fcinfo->context))
			PG_RETURN_NULL();
		sig = minhash_new(minhash_params(bands, rows, unit, width));
	}
	if (sig == NULL || !parse_minima(s, sig))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"",
						"minhash", simhash_excerpt(string, strlen(string))),
				 string[0] == '{' ?
				 errhint("For a set of numbers write to_minhash(h::bigint[]), for tokens to_minhash(h::text[]). The text form of minima is hexadecimal, for example 2x1:feature:01234567-89abcdef.") :
				 errhint("Use to_minhash(body) to compute the signature of a text. The text form is bands, rows, shingles, and the minima of each band in hexadecimal, for example 2x1:word3:01234567-89abcdef.")));
	if (!check_modifier(sig->params, PG_GETARG_INT32(2), fcinfo->context))
		PG_RETURN_NULL();
	PG_RETURN_MINHASH_P(sig);
}

PG_FUNCTION_INFO_V1(simhash_minhash_out);
Datum
simhash_minhash_out(PG_FUNCTION_ARGS)
{
	Minhash    *sig = PG_GETARG_MINHASH_P(0);
	int			rows = sig->params.rows;
	const char *unit = units[sig->params.unit].name;
	char	   *name = units[sig->params.unit].has_width ?
		psprintf("%dx%d:%s%d", sig->params.bands, rows, unit, sig->params.width) :
		psprintf("%dx%d:%s", sig->params.bands, rows, unit);
	size_t		length = strlen(name);
	char	   *string = palloc(length + minhash_length(sig) * MINIMUM_DIGITS +
								sig->params.bands + 1);
	char	   *s = string + length;

	memcpy(string, name, length);
	for (int i = 0; i < minhash_length(sig); i++)
	{
		uint32		minimum = pg_hton32(sig->minima[i]);

		if (i % rows == 0)
			*s++ = i == 0 ? ':' : '-';
		s += hex_encode((const char *) &minimum, sizeof(minimum), s);
	}
	*s = '\0';
	pfree(name);
	PG_FREE_IF_COPY(sig, 0);
	PG_RETURN_CSTRING(string);
}

/*
 * Read the binary form: the version and the unit, one byte each; the width, the number of
 * bands and the number of rows, two bytes each; the minima, four bytes each.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_recv);
Datum
simhash_minhash_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			version = pq_getmsgbyte(buf);
	int			unit = pq_getmsgbyte(buf);
	int			width = pq_getmsgint(buf, 2);
	int			bands = pq_getmsgint(buf, 2);
	int			rows = pq_getmsgint(buf, 2);
	Minhash    *sig;

	if (version != MINHASH_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("version %d of type %s is not supported", version, "minhash"),
				 errhint("This is version %d.", MINHASH_VERSION)));
	if (!width_is_valid(unit, width))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid unit %d and width %d for type %s",
						unit, width, "minhash"),
				 errhint("Units 0 and 1 have a width of 1 to %d, units 2 and 3 have width 0.",
						 SHINGLE_MAX_WIDTH)));
	(void) minhash_check_shape(bands, rows, NULL);
	sig = minhash_new(minhash_params(bands, rows, unit, width));
	for (int i = 0; i < minhash_length(sig); i++)
		sig->minima[i] = pq_getmsgint(buf, 4);
	(void) check_modifier(sig->params, PG_GETARG_INT32(2), NULL);
	PG_RETURN_MINHASH_P(sig);
}

PG_FUNCTION_INFO_V1(simhash_minhash_send);
Datum
simhash_minhash_send(PG_FUNCTION_ARGS)
{
	Minhash    *sig = PG_GETARG_MINHASH_P(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendbyte(&buf, sig->version);
	pq_sendbyte(&buf, sig->params.unit);
	pq_sendint16(&buf, sig->params.width);
	pq_sendint16(&buf, sig->params.bands);
	pq_sendint16(&buf, sig->params.rows);
	for (int i = 0; i < minhash_length(sig); i++)
		pq_sendint32(&buf, sig->minima[i]);
	PG_FREE_IF_COPY(sig, 0);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/*
 * Parse a modifier that is an integer.  Returns false if it is not an integer.
 */
static bool
parse_integer(Datum modifier, int *number)
{
	const char *s = DatumGetCString(modifier);
	char	   *end;

	errno = 0;
	*number = strtoint(s, &end, 10);
	return end > s && *end == '\0' && errno == 0;
}

/*
 * Parse the modifiers from the third one on, which are the unit and its width.  Returns
 * false if features cannot have this unit and width.
 */
static bool
parse_features(const Datum *modifiers, int n, int *unit, int *width)
{
	const char *name = n > 0 ? DatumGetCString(modifiers[0]) : units[MINHASH_OF_WORDS].name;

	for (*unit = 0; *unit < lengthof(units); (*unit)++)
		if (strcmp(name, units[*unit].name) == 0)
		{
			*width = units[*unit].has_width ? minhash_default_width(*unit) : 0;
			return n < 2 || (parse_integer(modifiers[1], width) &&
							 units[*unit].has_width && width_is_valid(*unit, *width));
		}
	return false;
}

/*
 * The type modifier minhash(bands, rows [, unit [, width]]).
 */
PG_FUNCTION_INFO_V1(simhash_minhash_typmod_in);
Datum
simhash_minhash_typmod_in(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	Datum	   *modifiers;
	int			n = 0;
	int			bands;
	int			rows;
	int			unit;
	int			width;

	if (ARR_NDIM(array) == 1 && !array_contains_nulls(array))
		deconstruct_array(array, CSTRINGOID, -2, false, TYPALIGN_CHAR, &modifiers, NULL, &n);
	if (n < 2 || n > 4 ||
		!parse_integer(modifiers[0], &bands) || !parse_integer(modifiers[1], &rows) ||
		!parse_features(modifiers + 2, n - 2, &unit, &width))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid type modifier for type %s", "minhash"),
				 errhint("Write minhash(bands, rows) for shingles of %d words, for example minhash(%d, %d). Write minhash(bands, rows, unit, width) for others, for example minhash(%d, %d, 'char', %d). The width is 1 to %d. Units without a width are 'feature' and 'hash'.",
						 minhash_default_width(UNIT_WORD),
						 MINHASH_DEFAULT_BANDS, MINHASH_DEFAULT_ROWS,
						 MINHASH_DEFAULT_BANDS, MINHASH_DEFAULT_ROWS,
						 minhash_default_width(UNIT_CHAR), SHINGLE_MAX_WIDTH)));
	(void) minhash_check_shape(bands, rows, NULL);
	PG_RETURN_INT32(minhash_typmod(minhash_params(bands, rows, unit, width)));
}

PG_FUNCTION_INFO_V1(simhash_minhash_typmod_out);
Datum
simhash_minhash_typmod_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(minhash_params_name(minhash_params_of_typmod(PG_GETARG_INT32(0))));
}

/*
 * Cast a value of type minhash to a type with a modifier.  Raises an error unless the
 * value has the parameters of the type.  Does not change the value.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_modified);
Datum
simhash_minhash_modified(PG_FUNCTION_ARGS)
{
	Minhash    *sig = PG_GETARG_MINHASH_P(0);

	(void) check_modifier(sig->params, PG_GETARG_INT32(1), NULL);
	PG_RETURN_MINHASH_P(sig);
}

/* --- order and hashing, for GROUP BY, DISTINCT and joins ----------------------------- */

/*
 * Signatures with different parameters are different.  Here, this is not an error.
 */

/*
 * Size in bytes of the parameters and minima, which are all that distinguishes signatures.
 */
#define HASHED_SIZE(sig)		(VARSIZE(sig) - VARHDRSZ)

static inline int
compare_numbers(uint32 a, uint32 b)
{
	return (a > b) - (a < b);
}

/*
 * Compare two signatures by their parameters, then by their minima.
 */
static int
compare_signatures(const Minhash *a, const Minhash *b)
{
	int			order = compare_numbers(a->params.bands, b->params.bands);

	if (order == 0)
		order = compare_numbers(a->params.rows, b->params.rows);
	if (order == 0)
		order = compare_numbers(a->params.unit, b->params.unit);
	if (order == 0)
		order = compare_numbers(a->params.width, b->params.width);
	for (int i = 0; order == 0 && i < minhash_length(a); i++)
		order = compare_numbers(a->minima[i], b->minima[i]);
	return order;
}

/*
 * Compare the two arguments of a function.  Frees copies of the arguments, because sorting
 * makes many calls.
 */
static int
compare_arguments(FunctionCallInfo fcinfo)
{
	Minhash    *a = PG_GETARG_MINHASH_P(0);
	Minhash    *b = PG_GETARG_MINHASH_P(1);
	int			order = compare_signatures(a, b);

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return order;
}

#define COMPARISON_OF_SIGNATURES(name, op) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_BOOL(compare_arguments(fcinfo) op 0); \
	} \
	extern Datum name(PG_FUNCTION_ARGS)

COMPARISON_OF_SIGNATURES(simhash_minhash_eq, ==);
COMPARISON_OF_SIGNATURES(simhash_minhash_ne, !=);
COMPARISON_OF_SIGNATURES(simhash_minhash_lt, <);
COMPARISON_OF_SIGNATURES(simhash_minhash_le, <=);
COMPARISON_OF_SIGNATURES(simhash_minhash_gt, >);
COMPARISON_OF_SIGNATURES(simhash_minhash_ge, >=);

PG_FUNCTION_INFO_V1(simhash_minhash_cmp);
Datum
simhash_minhash_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare_arguments(fcinfo));
}

HASH_FUNCTIONS(simhash_minhash_hash, Minhash *sig = PG_GETARG_MINHASH_P(0), VARDATA(sig),
			   HASHED_SIZE(sig), PG_FREE_IF_COPY(sig, 0));

/* --- estimates for sets, from their signatures ------------------------------------- */

/*
 * The first two arguments of a function.  They have the same parameters.
 */
typedef struct Pair
{
	Minhash    *a;
	Minhash    *b;
	int			n;				/* length of each signature, in minima */
} Pair;

/*
 * Return the first two arguments of a function.  Raises an error if their parameters
 * differ.
 */
static Pair
get_pair(FunctionCallInfo fcinfo)
{
	Pair		pair;

	pair.a = PG_GETARG_MINHASH_P(0);
	pair.b = PG_GETARG_MINHASH_P(1);
	minhash_check_comparable(pair.a, pair.b);
	pair.n = minhash_length(pair.a);
	return pair;
}

/* Free copies of the arguments.  A search compares many pairs in one memory context. */
#define FREE_PAIR(pair) \
	do { \
		PG_FREE_IF_COPY((pair).a, 0); \
		PG_FREE_IF_COPY((pair).b, 1); \
	} while (0)

/*
 * jaccard(a, b)
 *
 * Returns the fraction of minima that are equal.  The probability that a minimum is equal
 * in both signatures is the resemblance of the sets.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_jaccard);
Datum
simhash_minhash_jaccard(PG_FUNCTION_ARGS)
{
	Pair		pair = get_pair(fcinfo);
	int			equal = minima_count_equal(pair.a->minima, pair.b->minima, pair.n);

	FREE_PAIR(pair);
	PG_RETURN_FLOAT8((double) equal / pair.n);
}

/*
 * <%>, jaccard_distance(a, b)
 *
 * Returns the fraction of minima that differ.  Uses one division, because jaccard(a, b)
 * may be rounded.  With 1 - jaccard(a, b), a signature with d of n different minima might
 * not be within d / n.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_distance);
Datum
simhash_minhash_distance(PG_FUNCTION_ARGS)
{
	Pair		pair = get_pair(fcinfo);
	int			equal = minima_count_equal(pair.a->minima, pair.b->minima, pair.n);

	FREE_PAIR(pair);
	PG_RETURN_FLOAT8((float8) (pair.n - equal) / pair.n);
}

/*
 * %, shares_band(a, b)
 *
 * LSH banding.  Returns true if all minima of at least one band are equal.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_shares_band);
Datum
simhash_minhash_shares_band(PG_FUNCTION_ARGS)
{
	Pair		pair = get_pair(fcinfo);
	bool		shares = minima_share_band(pair.a->minima, pair.b->minima,
										   pair.a->params.bands, pair.a->params.rows);

	FREE_PAIR(pair);
	PG_RETURN_BOOL(shares);
}

/*
 * containment(a, b)
 *
 * Returns an estimate of the fraction of a's features that b contains, from 0 to 1.  Each
 * minimum of the union of a and b belongs to a random feature of the union.  The estimate
 * takes the minima whose feature is in a, and is the fraction of these whose feature is in
 * b, too.  So no cardinality has to be estimated.  Returns NULL if a has the feature of no
 * minimum, because a has very few features compared to b.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_containment);
Datum
simhash_minhash_containment(PG_FUNCTION_ARGS)
{
	Pair		pair = get_pair(fcinfo);
	int			equal = minima_count_equal(pair.a->minima, pair.b->minima, pair.n);
	int			first = minima_count_first(pair.a->minima, pair.b->minima, pair.n);

	FREE_PAIR(pair);
	if (first == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) equal / first);
}

PG_FUNCTION_INFO_V1(simhash_minhash_cardinality);
Datum
simhash_minhash_cardinality(PG_FUNCTION_ARGS)
{
	Minhash    *sig = PG_GETARG_MINHASH_P(0);
	double		cardinality = minima_cardinality(sig->minima, minhash_length(sig));

	PG_FREE_IF_COPY(sig, 0);
	PG_RETURN_FLOAT8(cardinality);
}
