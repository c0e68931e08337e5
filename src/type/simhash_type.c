/*
 * The type simhash: input, output, order and hashing
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <ctype.h>

#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/sortsupport.h"

#include "compat.h"
#include "type/simhash_type.h"

/* Maximum number of bytes of an invalid string that an error message shows. */
#define SHOWN_LENGTH	60

/*
 * Return the value of a hexadecimal digit, or -1.
 */
static inline int
hex_digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/*
 * Parse exactly n hexadecimal digits, at most 16.  Does not check the characters after them.
 * Returns false at the first character that is not a digit, which may be the terminating NUL.
 */
bool
simhash_parse_digits(const char *digits, int n, uint64 *value)
{
	*value = 0;
	for (int i = 0; i < n; i++)
	{
		int			digit = hex_digit_value(digits[i]);

		if (digit < 0)
			return false;
		*value = *value << 4 | digit;
	}
	return true;
}

/*
 * Return a copy of the beginning of an invalid string, for an error message.  The string
 * may be a whole document, and need not be NUL-terminated.
 */
char *
simhash_excerpt(const char *string, size_t length)
{
	int			shown = pg_mbcliplen(string, length, SHOWN_LENGTH);

	/* the last character of invalid data may announce more bytes than there are */
	shown = Min(shown, length);
	return psprintf("%.*s%s", shown, string, shown < length ? "..." : "");
}

#define BINARY_DIGITS	"01"
#define DECIMAL_DIGITS	BINARY_DIGITS "23456789"
#define HEX_DIGITS		DECIMAL_DIGITS "abcdefABCDEF"
#define BASE64_DIGITS	HEX_DIGITS "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ+/"

/* Maximum number of bytes of a string whose form is looked up. */
#define FORM_LENGTH		100

/*
 * The forms in which other programs print 64 bits: a prefix, min to max characters of
 * `digits`, and a suffix.  The first form that a string has decides.  The hint says what to
 * write if the string is h.
 */
static const struct
{
	const char *prefix;
	const char *digits;
	size_t		min;
	size_t		max;
	const char *suffix;
	const char *hint;
}			forms[] =
{
	{"0x", HEX_DIGITS, 1, 16, "", gettext_noop("For hexadecimal digits after 0x write lpad(substr(h, 3), 16, '0')::simhash.")},
	{"-0x", HEX_DIGITS, 1, 16, "", gettext_noop("For a negative hexadecimal number write (-lpad(substr(h, 4), 16, '0')::simhash::numeric)::bigint::simhash.")},
	{"\\x", HEX_DIGITS, 16, 16, "", gettext_noop("For bytes write h::bytea::simhash.")},
	{"0b", BINARY_DIGITS, 17, 64, "", gettext_noop("For binary digits after 0b write lpad(substr(h, 3), 64, '0')::bit(64)::simhash.")},
	{"", BINARY_DIGITS, 21, 64, "", gettext_noop("For binary digits write lpad(h, 64, '0')::bit(64)::simhash.")},
	{"", DECIMAL_DIGITS, 17, 20, "", gettext_noop("For a decimal number write h::numeric::simhash.")},
	{"", DECIMAL_DIGITS, 1, 15, "", gettext_noop("For a decimal number write h::numeric::simhash, for hexadecimal digits without leading zeros lpad(h, 16, '0')::simhash.")},
	{"-", DECIMAL_DIGITS, 1, 19, "", gettext_noop("For a signed decimal number write h::bigint::simhash.")},
	{"-", HEX_DIGITS, 1, 16, "", gettext_noop("For a negative hexadecimal number write (-lpad(substr(h, 2), 16, '0')::simhash::numeric)::bigint::simhash.")},
	{"", HEX_DIGITS, 1, 15, "", gettext_noop("For hexadecimal digits without leading zeros write lpad(h, 16, '0')::simhash.")},
	{"", HEX_DIGITS, 17, FORM_LENGTH, "", gettext_noop("For a wider code write substr(h, 1, 16)::simhash, substr(h, 17, 16)::simhash and so on, each into a column of its own.")},
	{"a:", HEX_DIGITS, 16, 16, "", gettext_noop("For hexadecimal digits after a: write substr(h, 3)::simhash.")},
	{"d:", HEX_DIGITS, 16, 16, "", gettext_noop("For hexadecimal digits after d: write substr(h, 3)::simhash.")},
	{"p:", HEX_DIGITS, 16, 16, "", gettext_noop("For hexadecimal digits after p: write substr(h, 3)::simhash.")},
	{"", BASE64_DIGITS, 11, 11, "=", gettext_noop("For base64 write decode(h, 'base64')::simhash.")},
};

/*
 * Return true if a string is 16 hexadecimal digits, and white space or punctuation.
 */
static bool
is_punctuated(const char *s)
{
	int			digits = 0;

	for (; *s; s++)
		if (hex_digit_value(*s) >= 0)
			digits++;
		else if (!isspace((unsigned char) *s) && (*s == '_' || !ispunct((unsigned char) *s)))
			return false;
	return digits == SIMHASH_HEX_DIGITS;
}

/*
 * Return the hint for a string that is not a fingerprint.  It says what to write instead.
 */
static const char *
syntax_hint(const char *string, size_t length)
{
	char	   *s = pnstrdup(string, Min(length, FORM_LENGTH + 1));

	for (int i = 0; i < lengthof(forms); i++)
	{
		size_t		prefix = strlen(forms[i].prefix);
		size_t		digits;

		if (pg_strncasecmp(s, forms[i].prefix, prefix) != 0)
			continue;
		digits = strspn(s + prefix, forms[i].digits);
		if (digits >= forms[i].min && digits <= forms[i].max &&
			strcmp(s + prefix + digits, forms[i].suffix) == 0)
			return forms[i].hint;
	}
	if (is_punctuated(s))
		return gettext_noop("For hexadecimal digits with white space or punctuation write regexp_replace(h, '\\W', '', 'g')::simhash.");
	return gettext_noop("The fingerprint of a text is to_simhash(...).");
}

PG_FUNCTION_INFO_V1(simhash_in);
Datum
simhash_in(PG_FUNCTION_ARGS)
{
	char	   *string = PG_GETARG_CSTRING(0);
	size_t		length = strlen(string);
	SimHash		fp;

	if (length != SIMHASH_HEX_DIGITS || !simhash_parse_digits(string, SIMHASH_HEX_DIGITS, &fp))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"",
						"simhash", simhash_excerpt(string, length)),
				 errhint("A fingerprint is written as 16 hexadecimal digits. %s",
						 _(syntax_hint(string, length)))));
	PG_RETURN_SIMHASH(fp);
}

PG_FUNCTION_INFO_V1(simhash_out);
Datum
simhash_out(PG_FUNCTION_ARGS)
{
	char	   *digits = palloc(SIMHASH_HEX_DIGITS + 1);

	snprintf(digits, SIMHASH_HEX_DIGITS + 1, "%016llx", (unsigned long long) PG_GETARG_SIMHASH(0));
	PG_RETURN_CSTRING(digits);
}

PG_FUNCTION_INFO_V1(simhash_recv);
Datum
simhash_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);

	PG_RETURN_SIMHASH(pq_getmsgint64(buf));
}

PG_FUNCTION_INFO_V1(simhash_send);
Datum
simhash_send(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, PG_GETARG_SIMHASH(0));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/*
 * The order of fingerprints is that of unsigned integers, which is also that of the text form.
 */

#define COMPARISON_OF_FINGERPRINTS(name, op) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_BOOL(PG_GETARG_SIMHASH(0) op PG_GETARG_SIMHASH(1)); \
	} \
	extern Datum name(PG_FUNCTION_ARGS)

COMPARISON_OF_FINGERPRINTS(simhash_eq, ==);
COMPARISON_OF_FINGERPRINTS(simhash_ne, !=);
COMPARISON_OF_FINGERPRINTS(simhash_lt, <);
COMPARISON_OF_FINGERPRINTS(simhash_le, <=);
COMPARISON_OF_FINGERPRINTS(simhash_gt, >);
COMPARISON_OF_FINGERPRINTS(simhash_ge, >=);

PG_FUNCTION_INFO_V1(simhash_cmp);
Datum
simhash_cmp(PG_FUNCTION_ARGS)
{
	SimHash		a = PG_GETARG_SIMHASH(0);
	SimHash		b = PG_GETARG_SIMHASH(1);

	PG_RETURN_INT32((a > b) - (a < b));
}

#ifndef USE_FLOAT8_BYVAL
static int
simhash_fastcmp(Datum x, Datum y, SortSupport ssup)
{
	SimHash		a = DatumGetSimHash(x);
	SimHash		b = DatumGetSimHash(y);

	return (a > b) - (a < b);
}
#endif

/*
 * simhash_sortsupport(internal)
 *
 * If fingerprints are passed by value, the Datums are sorted as unsigned integers, for
 * which tuplesort has a specialized sort.
 */
PG_FUNCTION_INFO_V1(simhash_sortsupport);
Datum
simhash_sortsupport(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

#ifdef USE_FLOAT8_BYVAL
	ssup->comparator = ssup_datum_unsigned_cmp;
#else
	ssup->comparator = simhash_fastcmp;
#endif
	PG_RETURN_VOID();
}

HASH_FUNCTIONS(simhash_hash, SimHash fp = PG_GETARG_SIMHASH(0), &fp, sizeof(fp), (void) 0);

/*
 * Distance.  No function here fails on any input, so all are leakproof.
 */

PG_FUNCTION_INFO_V1(simhash_hamming_distance);
Datum
simhash_hamming_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(simhash_distance(PG_GETARG_SIMHASH(0),
									 PG_GETARG_SIMHASH(1)));
}

PG_FUNCTION_INFO_V1(simhash_within);
Datum
simhash_within(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(simhash_distance(PG_GETARG_SIMHASH(0),
									PG_GETARG_SIMHASH(1)) <= PG_GETARG_INT64(2));
}

PG_FUNCTION_INFO_V1(simhash_between);
Datum
simhash_between(PG_FUNCTION_ARGS)
{
	int			distance = simhash_distance(PG_GETARG_SIMHASH(0), PG_GETARG_SIMHASH(1));

	PG_RETURN_BOOL(distance > PG_GETARG_INT64(3) && distance <= PG_GETARG_INT64(2));
}

PG_FUNCTION_INFO_V1(simhash_in_ball);
Datum
simhash_in_ball(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(simhash_ball_contains(PG_GETARG_SIMHASH_BALL_P(1),
										 PG_GETARG_SIMHASH(0)));
}
