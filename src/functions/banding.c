/*
 * LSH banding (locality-sensitive hashing): the bands of signatures, and advice on their
 * shape
 *
 * Two sets of resemblance s have an equal minimum with probability s, share a band of r
 * rows with probability s^r, and share at least one of b bands with probability 1 - (1 -
 * s^r)^b.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/float.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "type/minhash_type.h"

/* Recall to use if the argument is NULL. */
#define DEFAULT_RECALL		0.95

/*
 * minhash_bands(sig)
 *
 * Returns the key of each band, for indexes of other types.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_bands);
Datum
simhash_minhash_bands(PG_FUNCTION_ARGS)
{
	Minhash    *sig = PG_GETARG_MINHASH_P(0);
	int			n = sig->params.bands;
	Datum	   *keys = palloc(n * sizeof(Datum));

	for (int i = 0; i < n; i++)
		keys[i] = Int64GetDatum(minhash_band_key(sig, i));
	PG_RETURN_ARRAYTYPE_P(construct_array(keys, n, INT8OID, sizeof(int64),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * Return the probability that sets of a resemblance share a band.  Computed with
 * logarithms, so that small probabilities are accurate.
 */
static float8
sharing_probability(float8 resemblance, int bands, int rows)
{
	return -expm1(bands * log1p(-pow(resemblance, rows)));
}

/*
 * Advice.  For each number of rows, compute the smallest number of bands that finds the
 * pairs that the caller wants.  With more rows, the signature is longer, and fewer pairs
 * of less resemblance share a band.  The advised shape is the smallest one that is
 * selective enough.  It is returned first, and larger shapes follow.
 */
#define ADVICE_COLUMNS	8

/*
 * Maximum fraction of pairs of half the resemblance that share a band of the advised
 * shape, unless the signature would exceed USUAL_LENGTH.
 */
#define LET_THROUGH		0.025

/*
 * Maximum length of the advised signature, in minima, unless no signature of this length
 * has the recall.  The minima of a signature of this length take a kilobyte.
 */
#define USUAL_LENGTH	256

typedef struct Shape
{
	int			bands;
	int			rows;
} Shape;

/*
 * Check that a number is greater than 0 and less than 1, and return it.  `what` is the
 * number's name in the error message.  The hint for exactly 0 or 1 adds `at_zero` or
 * `at_one`: the exact search that such a number asks for.
 */
static float8
check_open_fraction(float8 fraction, const char *what, const char *at_zero,
					const char *at_one)
{
	if (!(fraction > 0 && fraction < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s %s is out of range", what, float8out_internal(fraction)),
				 errhint("The value must be greater than 0 and less than 1.%s",
						 fraction == 0 ? at_zero : fraction == 1 ? at_one : "")));
	return fraction;
}

/*
 * Return the smallest number of bands, of `rows` rows each, with which sets whose
 * resemblance is the threshold share a band with probability `recall`.  Returns 0 if no
 * signature has that many bands.
 */
static int
fewest_bands(float8 threshold, float8 recall, int rows)
{
	int			max_bands = Min(MINHASH_MAX_BANDS, MINHASH_MAX_LENGTH / rows);

	for (int bands = 1; bands <= max_bands; bands++)
		if (sharing_probability(threshold, bands, rows) >= recall)
			return bands;
	return 0;
}

/*
 * Return the index of the advised shape among n shapes, which are in ascending order of
 * rows.
 */
static int
choose_shape(float8 threshold, const Shape *shapes, int n)
{
	int			i = 0;

	while (i + 1 < n &&
		   sharing_probability(threshold / 2, shapes[i].bands,
							   shapes[i].rows) > LET_THROUGH &&
		   shapes[i + 1].bands * shapes[i + 1].rows <= USUAL_LENGTH)
		i++;
	return i;
}

/*
 * Add a shape to the result.
 */
static void
put_shape(ReturnSetInfo *result, Shape shape, float8 threshold)
{
	Datum		values[ADVICE_COLUMNS];
	bool		nulls[ADVICE_COLUMNS] = {0};
	int			length = shape.bands * shape.rows;
	int			i = 0;

	values[i++] = Int32GetDatum(shape.bands);
	values[i++] = Int32GetDatum(shape.rows);
	values[i++] = Int32GetDatum(length);
	values[i++] = Int32GetDatum((int32) MINHASH_SIZE(length));
	for (int quarters = 4; quarters > 0; quarters--)
		values[i++] = Float8GetDatum(sharing_probability(threshold * quarters / 4,
														 shape.bands, shape.rows));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * Round a probability down to two digits after the point, and one more for each zero or nine
 * at their beginning.  So the result is not 0, and shows how close to 1 the probability is.
 */
static float8
round_down(float8 probability)
{
	int			digits = 2 + (int) -log10(Min(probability, 1 - probability));
	float8		scale = pow(10, Min(digits, DBL_MAX_10_EXP));

	return floor(probability * scale) / scale;
}

/*
 * Raise the error that no signature has this recall.
 */
static void
report_no_shape(float8 threshold, float8 recall)
{
	float8		max_recall = sharing_probability(threshold, MINHASH_MAX_BANDS, 1);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("no signature finds resemblance %s with recall %s",
					float8out_internal(threshold), float8out_internal(recall)),
			 errhint("The greatest recall, with %d bands of one row, is %s.",
					 MINHASH_MAX_BANDS, float8out_internal(round_down(max_recall)))));
}

/*
 * minhash_advice(threshold, recall)
 *
 * Returns the advised shape, then larger shapes, which are more selective.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_advice);
Datum
simhash_minhash_advice(PG_FUNCTION_ARGS)
{
	float8		threshold;
	float8		recall = DEFAULT_RECALL;
	Shape		shapes[MINHASH_MAX_ROWS];
	int			n = 0;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	threshold = check_open_fraction(PG_GETARG_FLOAT8(0), "threshold",
									" Find a resemblance above 0 by && of shingle hashes.",
									" Find a resemblance of 1 by equality, or <%> <= 0, of shingle hashes.");
	if (!PG_ARGISNULL(1))
		recall = check_open_fraction(PG_GETARG_FLOAT8(1), "recall", "",
									 " Find all pairs by <%> of shingle hashes.");
	for (int rows = 1; rows <= MINHASH_MAX_ROWS; rows++)
	{
		int			bands = fewest_bands(threshold, recall, rows);

		if (bands == 0)
			break;
		shapes[n++] = (Shape) {bands, rows};
	}
	if (n == 0)
		report_no_shape(threshold, recall);
	for (int i = choose_shape(threshold, shapes, n); i < n; i++)
		put_shape((ReturnSetInfo *) fcinfo->resultinfo, shapes[i], threshold);
	return (Datum) 0;
}
