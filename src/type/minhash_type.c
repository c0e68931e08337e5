/*-------------------------------------------------------------------------
 *
 * minhash_type.c
 *		The type minhash: input, output and type modifiers
 *
 * The text form is 2x3:word5:000102030405060708090a0b-0c0d...: bands x rows, what the
 * features are, with the width of shingles, and the minima of each band.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "libpq/pqformat.h"
#include "port/pg_bswap.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "compat.h"
#include "type/minhash_type.h"
#include "type/simhash_type.h"

/* The hexadecimal digits of a minimum. */
#define MINIMUM_DIGITS		8

/*
 * What features are called, by MinhashUnit; and whether they have a width.
 */
static const struct
{
	const char *name;
	bool		has_width;
}			units[] = {
	[MINHASH_OF_WORDS] = {"word", true},
	[MINHASH_OF_CHARS] = {"char", true},
	[MINHASH_OF_FEATURES] = {"feature", false},
	[MINHASH_OF_HASHES] = {"hash", false},
};

StaticAssertDecl((int) MINHASH_OF_WORDS == (int) UNIT_WORD &&
				 (int) MINHASH_OF_CHARS == (int) UNIT_CHAR,
				 "units of shingles are units of signatures");

/*
 * Raise an error if there is no signature of that shape; or save it in the context, if
 * that is not NULL, and return false.
 */
bool
minhash_check_shape(int bands, int rows, struct Node *context)
{
	if (bands < 1 || bands > MINHASH_MAX_BANDS)
		ereturn(context, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of bands %d is out of range", bands),
				 errhint("A signature has 1 to %d bands.", MINHASH_MAX_BANDS)));
	if (rows < 1 || rows > MINHASH_MAX_ROWS)
		ereturn(context, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of rows %d is out of range", rows),
				 errhint("A band has 1 to %d rows.", MINHASH_MAX_ROWS)));
	if (bands * rows > MINHASH_MAX_PLACES)
		ereturn(context, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%d bands of %d rows are too many", bands, rows),
				 errhint("Bands times rows is at most %d.", MINHASH_MAX_PLACES)));
	return true;
}

/*
 * Is that what the features of a signature may be?
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

bool
minhash_make_is_valid(MinhashMake make)
{
	return make.bands >= 1 && make.bands <= MINHASH_MAX_BANDS &&
		make.rows >= 1 && make.rows <= MINHASH_MAX_ROWS &&
		make.bands * make.rows <= MINHASH_MAX_PLACES &&
		width_is_valid(make.unit, make.width);
}

/*
 * A signature whose minima are still to come.
 */
Minhash *
minhash_new(MinhashMake make)
{
	size_t		size = MINHASH_SIZE(make.bands * make.rows);
	Minhash    *sig = palloc0(size);

	SET_VARSIZE(sig, size);
	sig->make = make;
	sig->version = MINHASH_VERSION;
	return sig;
}

/*
 * All that is done with a signature relies on its make and its size, so a damaged one
 * ends here.
 */
Minhash *
minhash_check(Minhash *sig)
{
	if (VARSIZE(sig) < MINHASH_SIZE(1) || sig->version != MINHASH_VERSION ||
		sig->unused != 0 || !minhash_make_is_valid(sig->make) ||
		VARSIZE(sig) != MINHASH_SIZE(minhash_places(sig)))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored value of type %s is damaged", "minhash"),
				 errhint("Make it anew, or look for what damages your tables.")));
	return sig;
}

/*
 * The signature of a datum, which may be stored out of line.
 */
Minhash *
minhash_detoast(Datum value)
{
	return minhash_check((Minhash *) PG_DETOAST_DATUM(value));
}

/*
 * The make as it is written in front of the minima.
 */
char *
minhash_make_name(MinhashMake make)
{
	if (units[make.unit].has_width)
		return psprintf("%dx%d:%s%d", make.bands, make.rows,
						units[make.unit].name, make.width);
	return psprintf("%dx%d:%s", make.bands, make.rows, units[make.unit].name);
}

/*
 * Raise an error if two signatures were not made alike.
 */
void
minhash_check_comparable(const Minhash *a, const Minhash *b)
{
	if (!minhash_same_make(a->make, b->make))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("signatures of different make cannot be compared: %s and %s",
						minhash_make_name(a->make), minhash_make_name(b->make)),
				 errhint("Make both with the same bands, rows, width and unit.")));
}

/*
 * Does a signature fit a type modifier?  Errors as those of minhash_check_shape.
 */
static bool
check_modifier(MinhashMake make, int32 typmod, struct Node *context)
{
	int			bands = MINHASH_TYPMOD_BANDS(typmod);
	int			rows = MINHASH_TYPMOD_ROWS(typmod);

	if (typmod >= 0 && (make.bands != bands || make.rows != rows))
		ereturn(context, false,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("signature %s does not fit type minhash(%d,%d)",
						minhash_make_name(make), bands, rows),
				 make.unit == MINHASH_OF_FEATURES ?
				 errhint("Make it with minhash_agg(..., %d, %d).", bands, rows) :
				 errhint("Make it with to_minhash(..., bands => %d, rows => %d).",
						 bands, rows)));
	return true;
}

/*
 * Read a number of at most five digits as it is written by minhash_make_name.
 */
static bool
parse_number(const char **s, int *number)
{
	int			ndigits = strspn(*s, "0123456789");

	if (ndigits < 1 || ndigits > 5 || **s == '0')
		return false;
	*number = atoi(*s);
	*s += ndigits;
	return true;
}

static bool
parse_character(const char **s, char expected)
{
	if (**s != expected)
		return false;
	(*s)++;
	return true;
}

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
		return !units[*unit].has_width || parse_number(s, width);
	}
	return false;
}

static bool
parse_minima(const char *s, Minhash *sig)
{
	for (int i = 0; i < minhash_places(sig); i++)
	{
		uint64		minimum;

		if (i > 0 && i % sig->make.rows == 0 && !parse_character(&s, '-'))
			return false;
		if (!simhash_parse_digits(s, MINIMUM_DIGITS, &minimum))
			return false;
		sig->minima[i] = minimum;
		s += MINIMUM_DIGITS;
	}
	return *s == '\0';
}

/*
 * Read the text form.  Returns NULL if it is none; *failed tells whether an error was
 * saved in the context.
 */
static Minhash *
parse_signature(const char *s, struct Node *context, bool *failed)
{
	int			bands;
	int			rows;
	int			unit;
	int			width;
	Minhash    *sig;

	*failed = false;
	if (!parse_number(&s, &bands) || !parse_character(&s, 'x') ||
		!parse_number(&s, &rows) || !parse_character(&s, ':') ||
		!parse_unit(&s, &unit, &width) || !parse_character(&s, ':') ||
		!width_is_valid(unit, width))
		return NULL;
	if (!minhash_check_shape(bands, rows, context))
	{
		*failed = true;
		return NULL;
	}
	sig = minhash_new(minhash_make(bands, rows, unit, width));
	return parse_minima(s, sig) ? sig : NULL;
}

PG_FUNCTION_INFO_V1(simhash_minhash_in);
Datum
simhash_minhash_in(PG_FUNCTION_ARGS)
{
	char	   *string = PG_GETARG_CSTRING(0);
	bool		failed;
	Minhash    *sig = parse_signature(string, fcinfo->context, &failed);

	if (failed)
		PG_RETURN_NULL();
	if (sig == NULL)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"",
						"minhash", simhash_excerpt(string, strlen(string))),
				 errhint("The signature of a text is to_minhash(...). One that is made is written as bands, rows, shingles, and the minima of each band in hexadecimal: 2x1:word3:01234567-89abcdef.")));
	if (!check_modifier(sig->make, PG_GETARG_INT32(2), fcinfo->context))
		PG_RETURN_NULL();
	PG_RETURN_MINHASH_P(sig);
}

PG_FUNCTION_INFO_V1(simhash_minhash_out);
Datum
simhash_minhash_out(PG_FUNCTION_ARGS)
{
	Minhash    *sig = PG_GETARG_MINHASH_P(0);
	int			rows = sig->make.rows;
	char	   *name = minhash_make_name(sig->make);
	size_t		length = strlen(name);
	char	   *string = palloc(length + minhash_places(sig) * MINIMUM_DIGITS +
								sig->make.bands + 1);
	char	   *s = string + length;

	memcpy(string, name, length);
	for (int i = 0; i < minhash_places(sig); i++)
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
 * The binary form: version and unit of one byte, width, bands and rows of two, minima of
 * four.
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
	sig = minhash_new(minhash_make(bands, rows, unit, width));
	for (int i = 0; i < minhash_places(sig); i++)
		sig->minima[i] = pq_getmsgint(buf, 4);
	(void) check_modifier(sig->make, PG_GETARG_INT32(2), NULL);
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
	pq_sendbyte(&buf, sig->make.unit);
	pq_sendint16(&buf, sig->make.width);
	pq_sendint16(&buf, sig->make.bands);
	pq_sendint16(&buf, sig->make.rows);
	for (int i = 0; i < minhash_places(sig); i++)
		pq_sendint32(&buf, sig->minima[i]);
	PG_FREE_IF_COPY(sig, 0);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

PG_FUNCTION_INFO_V1(simhash_minhash_typmod_in);
Datum
simhash_minhash_typmod_in(PG_FUNCTION_ARGS)
{
	int			n;
	int32	   *modifiers = ArrayGetIntegerTypmods(PG_GETARG_ARRAYTYPE_P(0), &n);

	if (n != 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid type modifier for type %s", "minhash"),
				 errhint("Write minhash(bands, rows), for example minhash(%d, %d).",
						 MINHASH_DEFAULT_BANDS, MINHASH_DEFAULT_ROWS)));
	(void) minhash_check_shape(modifiers[0], modifiers[1], NULL);
	PG_RETURN_INT32(MINHASH_TYPMOD(modifiers[0], modifiers[1]));
}

PG_FUNCTION_INFO_V1(simhash_minhash_typmod_out);
Datum
simhash_minhash_typmod_out(PG_FUNCTION_ARGS)
{
	int32		typmod = PG_GETARG_INT32(0);

	PG_RETURN_CSTRING(psprintf("(%d,%d)", MINHASH_TYPMOD_BANDS(typmod),
							   MINHASH_TYPMOD_ROWS(typmod)));
}

/*
 * The cast from minhash to minhash(bands, rows): does not change the value.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_modified);
Datum
simhash_minhash_modified(PG_FUNCTION_ARGS)
{
	Minhash    *sig = PG_GETARG_MINHASH_P(0);

	(void) check_modifier(sig->make, PG_GETARG_INT32(1), NULL);
	PG_RETURN_MINHASH_P(sig);
}
