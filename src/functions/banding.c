/*-------------------------------------------------------------------------
 *
 * banding.c
 *		The bands of signatures, and how likely one is shared
 *
 * Sets of resemblance s agree in a place with probability s, in a band of r rows with
 * s^r, and in some of b bands with 1 - (1 - s^r)^b.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/float.h"

#include "compat.h"
#include "type/minhash.h"

/*
 * minhash_bands(sig): what stands for each band, for indexes of others.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_bands);
Datum
simhash_minhash_bands(PG_FUNCTION_ARGS)
{
	Minhash    *sig = PG_GETARG_MINHASH_P(0);
	int			n = sig->make.bands;
	Datum	   *words = palloc(n * sizeof(Datum));

	for (int i = 0; i < n; i++)
		words[i] = Int64GetDatum(minhash_band_word(sig, i));
	PG_RETURN_ARRAYTYPE_P(construct_array(words, n, INT8OID, sizeof(int64),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * A number from 0 to 1, called `what` in the message.  0 comes without a sign, which
 * would be seen in results.
 */
static float8
check_share(float8 share, const char *what)
{
	if (!(share >= 0 && share <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("%s %s is out of range", what, float8out_internal(share)),
				 errhint("It is a number from 0 to 1.")));
	return share == 0 ? 0 : share;
}

/*
 * minhash_probability(resemblance, bands, rows).  By logarithms, so that the smallest
 * are exact, too.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_probability);
Datum
simhash_minhash_probability(PG_FUNCTION_ARGS)
{
	float8		resemblance = check_share(PG_GETARG_FLOAT8(0), "resemblance");
	int			bands = PG_GETARG_INT32(1);
	int			rows = PG_GETARG_INT32(2);

	(void) minhash_check_shape(bands, rows, NULL);
	PG_RETURN_FLOAT8(-expm1(bands * log1p(-pow(resemblance, rows))));
}

/*
 * minhash_threshold(bands, rows, probability): its inverse.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_threshold);
Datum
simhash_minhash_threshold(PG_FUNCTION_ARGS)
{
	int			bands = PG_GETARG_INT32(0);
	int			rows = PG_GETARG_INT32(1);
	float8		probability = check_share(PG_GETARG_FLOAT8(2), "probability");

	(void) minhash_check_shape(bands, rows, NULL);
	PG_RETURN_FLOAT8(pow(-expm1(log1p(-probability) / bands), 1.0 / rows));
}
