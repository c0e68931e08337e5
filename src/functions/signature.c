/*
 * to_minhash(...), minhash_agg, minhash_union: the signature of a text, of tokens, of
 * features, of the union of signatures
 *
 * The result is NULL if there is no feature.  Features can be added to a signature.  So
 * the state of an aggregate is the signature of the features so far.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"

#include "functions/arguments.h"
#include "text/hash.h"
#include "type/minhash_type.h"

/*
 * Number of hashes between checks for interrupts.  It is small, since adding a hash to a
 * long signature is slow.
 */
#define INTERRUPT_INTERVAL	256

/*
 * Return the parameters of a signature.  Arguments `first` and `first` + 1 are "bands" and
 * "rows", and have defaults if they are NULL.  Raises an error if they are out of range.
 */
static MinhashParams
get_params(FunctionCallInfo fcinfo, int first, MinhashUnit unit, int width)
{
	int			bands = PG_ARGISNULL(first) ? MINHASH_DEFAULT_BANDS :
		PG_GETARG_INT32(first);
	int			rows = PG_ARGISNULL(first + 1) ? MINHASH_DEFAULT_ROWS :
		PG_GETARG_INT32(first + 1);

	(void) minhash_check_shape(bands, rows, NULL);
	return minhash_params(bands, rows, unit, width);
}

/*
 * Return a new signature of the empty set.  Initializes the builder to add features to it.
 */
static Minhash *
begin_signature(MinimaBuilder *builder, MinhashParams params)
{
	Minhash    *sig = minhash_new(params);

	minima_begin(builder, sig->minima, minhash_length(sig));
	return sig;
}

/*
 * Return a signature as a function's result, which is NULL if no feature was added.
 */
static Datum
finish_signature(FunctionCallInfo fcinfo, MinimaBuilder *builder, Minhash *sig)
{
	if (!minima_finish(builder))
		PG_RETURN_NULL();
	PG_RETURN_MINHASH_P(sig);
}

/*
 * Add a shingle to a MinimaBuilder.  A ShingleConsumer.
 */
static void
add_minimum(void *builder, const char *shingle, size_t length)
{
	minima_add((MinimaBuilder *) builder, hash_feature(shingle, length));
}

/*
 * to_minhash(body text, bands int, rows int, width int, unit text) and to_minhash(tokens
 * text[], bands int, rows int, width int)
 */
PG_FUNCTION_INFO_V1(simhash_to_minhash);
Datum
simhash_to_minhash(PG_FUNCTION_ARGS)
{
	Cut			cut;
	MinimaBuilder builder;
	Minhash    *sig;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	cut = get_cut(fcinfo, 3, minhash_default_width);
	sig = begin_signature(&builder,
						  get_params(fcinfo, 1, (MinhashUnit) cut.unit, cut.width));
	cut_document(PG_GETARG_DATUM(0), &cut, add_minimum, &builder);
	return finish_signature(fcinfo, &builder, sig);
}

/*
 * to_minhash(hashes bigint[], bands int, rows int)
 *
 * Hashes the numbers.  Ranks need hashes that look random, and ids do not look random.
 */
PG_FUNCTION_INFO_V1(simhash_to_minhash_hashes);
Datum
simhash_to_minhash_hashes(PG_FUNCTION_ARGS)
{
	ArrayType  *array;
	int			n;
	int64	   *hashes;
	MinimaBuilder builder;
	Minhash    *sig;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	array = check_array(PG_GETARG_ARRAYTYPE_P(0), "hashes");
	n = array_nitems(array);
	hashes = (int64 *) ARR_DATA_PTR(array);
	sig = begin_signature(&builder, get_params(fcinfo, 1, MINHASH_OF_HASHES, 0));
	for (int i = 0; i < n; i++)
	{
		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		minima_add(&builder, hash_number(hashes[i]));
	}
	PG_FREE_IF_COPY(array, 0);
	return finish_signature(fcinfo, &builder, sig);
}

/*
 * Return the first argument as a signature that may be changed: the state of an aggregate
 * itself, or else a copy.
 */
static Minhash *
get_state(FunctionCallInfo fcinfo)
{
	if (AggCheckCallContext(fcinfo, NULL))
		return PG_GETARG_MINHASH_P(0);
	return minhash_check((Minhash *) PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0)));
}

/*
 * minhash_agg(feature) and minhash_agg(feature, bands, rows)
 *
 * The transition function.  Ignores rows in which the feature is NULL, as other aggregates
 * do.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_agg_transition);
Datum
simhash_minhash_agg_transition(PG_FUNCTION_ARGS)
{
	MinhashParams params = minhash_params(MINHASH_DEFAULT_BANDS, MINHASH_DEFAULT_ROWS,
									MINHASH_OF_FEATURES, 0);
	MinimaBuilder builder;
	Minhash    *sig;
	uint64		hash;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	if (PG_NARGS() > 2)
		params = get_params(fcinfo, 2, MINHASH_OF_FEATURES, 0);
	if (PG_ARGISNULL(0))
		sig = begin_signature(&builder, params);
	else
		sig = get_state(fcinfo);
	if (!minhash_same_params(sig->params, params))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("features of one signature have different parameters: %s and %s",
						minhash_params_name(sig->params), minhash_params_name(params)),
				 errhint("Give all rows of a group the same bands and rows.")));
	hash = hash_text(PG_GETARG_TEXT_PP(1));
	minima_lower(sig->minima, minhash_length(sig), &hash, 1);
	PG_RETURN_MINHASH_P(sig);
}

/*
 * minhash_union(a, b)
 *
 * This is also the transition function of minhash_union_agg, and the combine function of
 * both aggregates.  Raises an error if the parameters differ.
 */
PG_FUNCTION_INFO_V1(simhash_minhash_union);
Datum
simhash_minhash_union(PG_FUNCTION_ARGS)
{
	Minhash    *sig = get_state(fcinfo);
	Minhash    *other = PG_GETARG_MINHASH_P(1);

	minhash_check_comparable(sig, other);
	minima_unite(sig->minima, other->minima, minhash_length(sig));
	PG_FREE_IF_COPY(other, 1);
	PG_RETURN_MINHASH_P(sig);
}
