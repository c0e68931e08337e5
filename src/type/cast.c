/*
 * Casts between simhash and types in which other software stores fingerprints
 *
 * The casts to and from bigint need no function.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/varbit.h"

#include "compat.h"
#include "type/simhash_type.h"

PG_FUNCTION_INFO_V1(simhash_from_text);
Datum
simhash_from_text(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall1(simhash_in,
							   CStringGetDatum(text_to_cstring(PG_GETARG_TEXT_PP(0))));
}

/*
 * Return a fingerprint as an unsigned decimal number, the form in which other libraries
 * store it.
 */
PG_FUNCTION_INFO_V1(simhash_to_numeric);
Datum
simhash_to_numeric(PG_FUNCTION_ARGS)
{
	char		digits[24];

	snprintf(digits, sizeof(digits), UINT64_FORMAT, PG_GETARG_SIMHASH(0));
	return DirectFunctionCall3(numeric_in, CStringGetDatum(digits),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

PG_FUNCTION_INFO_V1(simhash_from_numeric);
Datum
simhash_from_numeric(PG_FUNCTION_ARGS)
{
	char	   *string = DatumGetCString(DirectFunctionCall1(numeric_out,
															 PG_GETARG_DATUM(0)));
	char	   *rest;
	SimHash		fp;

	/* 1.00 is an integer, too; -0 is written as 0; the text form of NaN has no digits */
	errno = 0;
	fp = strtou64(string, &rest, 10);
	if (*rest == '.')
		rest += 1 + strspn(rest + 1, "0");
	if (string[0] == '-' || rest == string || *rest != '\0' || errno == ERANGE)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%s\" is out of range for type %s",
						simhash_excerpt(string, strlen(string)), "simhash"),
				 errhint("A fingerprint as a number is an integer from 0 to 18446744073709551615. For a signed number write (n)::bigint::simhash.")));
	PG_RETURN_SIMHASH(fp);
}

/*
 * Return the fingerprint of a small number.  With this cast, 42::simhash is read in the
 * same way as 42000000000::simhash, a cast of a bigint.  Raises an error if the number is
 * negative, since a negative integer is not the signed form of 64 bits.
 */
PG_FUNCTION_INFO_V1(simhash_from_integer);
Datum
simhash_from_integer(PG_FUNCTION_ARGS)
{
	int32		value = PG_GETARG_INT32(0);

	if (value < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%d\" is out of range for type %s",
						value, "simhash"),
				 errhint("Write (%d)::bigint::simhash for a signed number. An unsigned number is not negative.",
						 value)));
	PG_RETURN_SIMHASH(value);
}

PG_FUNCTION_INFO_V1(simhash_to_bit);
Datum
simhash_to_bit(PG_FUNCTION_ARGS)
{
	SimHash		fp = pg_hton64(PG_GETARG_SIMHASH(0));
	VarBit	   *bits = palloc(VARBITTOTALLEN(SIMHASH_BITS));

	SET_VARSIZE(bits, VARBITTOTALLEN(SIMHASH_BITS));
	VARBITLEN(bits) = SIMHASH_BITS;
	memcpy(VARBITS(bits), &fp, sizeof(fp));
	PG_RETURN_VARBIT_P(bits);
}

PG_FUNCTION_INFO_V1(simhash_from_bit);
Datum
simhash_from_bit(PG_FUNCTION_ARGS)
{
	VarBit	   *bits = PG_GETARG_VARBIT_P(0);
	SimHash		fp;

	if (VARBITLEN(bits) != SIMHASH_BITS)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("bit string length %d does not match type %s",
						VARBITLEN(bits), "simhash"),
				 errhint("A fingerprint is a bit(%d).", SIMHASH_BITS)));
	memcpy(&fp, VARBITS(bits), sizeof(fp));
	PG_RETURN_SIMHASH(pg_ntoh64(fp));
}

PG_FUNCTION_INFO_V1(simhash_from_bytea);
Datum
simhash_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	SimHash		fp;

	if (VARSIZE_ANY_EXHDR(bytes) != sizeof(fp))
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("bytea of length %d does not match type %s",
						(int) VARSIZE_ANY_EXHDR(bytes), "simhash"),
				 errhint("A fingerprint is %d bytes, most significant first.",
						 (int) sizeof(fp))));
	memcpy(&fp, VARDATA_ANY(bytes), sizeof(fp));
	PG_RETURN_SIMHASH(pg_ntoh64(fp));
}
