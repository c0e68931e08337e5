/*
 * simhash(...), to_simhash(...), simhash_agg: the fingerprint of a text, of tokens, of
 * features
 *
 * The result is NULL if there is no feature, since no fingerprint can represent that.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "tsearch/ts_type.h"
#include "utils/builtins.h"

#include "compat.h"
#include "digest/accumulate.h"
#include "digest/distinct.h"
#include "functions/arguments.h"
#include "text/encoding.h"
#include "text/hash.h"
#include "type/simhash_type.h"

/* Estimated number of bytes of an English text for each of its distinct shingles. */
#define BYTES_A_SHINGLE(unit)	((unit) == UNIT_WORD ? 6 : 1)

/* Number of features between checks for interrupts. */
#define INTERRUPT_INTERVAL	1024

/*
 * Return the hash of a feature given in the server's encoding.  The bytes hashed are
 * UTF-8, or the bytes as stored in a SQL_ASCII database.
 */
static uint64
hash_server_string(char *string, size_t length)
{
	char	   *utf8 = server_to_utf8(string, &length);
	uint64		hash = hash_feature(utf8, length);

	if (utf8 != string)
		pfree(utf8);
	return hash;
}

/*
 * Return the hash of a feature.
 */
uint64
hash_text(text *feature)
{
	return hash_server_string(VARDATA_ANY(feature), VARSIZE_ANY_EXHDR(feature));
}

static void
add_distinct(void *features, const char *shingle, size_t length)
{
	distinct_add((DistinctFeatures *) features, hash_feature(shingle, length));
}

/*
 * Return the fingerprint of the features of an accumulator as a function's result.
 */
static Datum
fingerprint_of_sum(FunctionCallInfo fcinfo, Accumulator *acc)
{
	SimHash		fp;

	if (!accumulator_fingerprint(acc, &fp))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(fp);
}

/*
 * Add a feature with a weight that comes from SQL.  Raises an error if the weight or the
 * sum of absolute weights is out of range.
 */
static void
add_feature(Accumulator *acc, uint64 hash, float8 weight)
{
	if (!accumulator_add_weighted(acc, hash, check_weight(weight)))
		report_weights_overflow();
}

/*
 * simhash(body text, width int, unit text), simhash(tokens text[], width int) and
 * simhash(unknown)
 *
 * simhash(unknown) is called for a literal without a type.  Without this function, the
 * parser would resolve the call as a cast of the literal to the type simhash.
 */
PG_FUNCTION_INFO_V1(simhash_text);
Datum
simhash_text(PG_FUNCTION_ARGS)
{
	struct varlena *document;
	Cut			cut;
	DistinctFeatures features;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_NARGS() == 1)
	{
		/* the literal is a C string */
		cut = (Cut) {false, shingle_default_width(SHINGLE_DEFAULT_UNIT), SHINGLE_DEFAULT_UNIT};
		document = (struct varlena *) cstring_to_text(PG_GETARG_CSTRING(0));
	}
	else
	{
		cut = get_cut(fcinfo, 1, shingle_default_width);
		document = cut.is_array ? PG_GETARG_VARLENA_P(0) : PG_GETARG_VARLENA_PP(0);
	}
	distinct_init(&features, cut.is_array ? array_nitems((ArrayType *) document) :
				  VARSIZE_ANY_EXHDR(document) / BYTES_A_SHINGLE(cut.unit));
	cut_document(PointerGetDatum(document), &cut, add_distinct, &features);
	PG_FREE_IF_COPY(document, 0);
	return fingerprint_of_sum(fcinfo, distinct_finish(&features));
}

/*
 * Check the weights of n features and return them.  Raises an error unless there is one
 * weight for each feature.  `features` is the name of the argument with the features in
 * the error message.
 */
static float8 *
check_weights(ArrayType *weights, int n, const char *features)
{
	check_array(weights, "weights");
	if (array_nitems(weights) != n)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("%s and weights must have the same length", features),
				 errdetail("There are %d %s and %d weights.",
						   n, features, array_nitems(weights)),
				 errhint("Give one weight for each of the %s.", features)));
	return (float8 *) ARR_DATA_PTR(weights);
}

/*
 * simhash(features text[], weights float8[])
 */
PG_FUNCTION_INFO_V1(simhash_features);
Datum
simhash_features(PG_FUNCTION_ARGS)
{
	ArrayType  *features = check_array(PG_GETARG_ARRAYTYPE_P(0), "features");
	float8	   *weights = check_weights(PG_GETARG_ARRAYTYPE_P(1),
										array_nitems(features), "features");
	ArrayIterator iterator = array_create_iterator(features, 0, NULL);
	Datum		feature;
	bool		isnull;
	Accumulator acc = {0};

	while (array_iterate(iterator, &feature, &isnull))
	{
		CHECK_FOR_INTERRUPTS();
		add_feature(&acc, hash_text(DatumGetTextPP(feature)), *weights++);
	}
	array_free_iterator(iterator);
	return fingerprint_of_sum(fcinfo, &acc);
}

/*
 * simhash(hashes bigint[], weights float8[])
 */
PG_FUNCTION_INFO_V1(simhash_hashes);
Datum
simhash_hashes(PG_FUNCTION_ARGS)
{
	ArrayType  *array;
	int			n;
	int64	   *hashes;
	float8	   *weights = NULL;
	Accumulator acc = {0};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	array = check_array(PG_GETARG_ARRAYTYPE_P(0), "hashes");
	n = array_nitems(array);
	hashes = (int64 *) ARR_DATA_PTR(array);
	if (!PG_ARGISNULL(1))
		weights = check_weights(PG_GETARG_ARRAYTYPE_P(1), n, "hashes");

	for (int i = 0; i < n; i++)
	{
		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (weights)
			add_feature(&acc, hashes[i], weights[i]);
		else
			accumulator_add(&acc, hashes[i]);
	}
	return fingerprint_of_sum(fcinfo, &acc);
}

/* Number of labels of lexemes.  Weights are in the order {D,C,B,A}, as in ts_rank. */
#define TS_LABELS	4

static const float4 ts_default_weights[TS_LABELS] = {0.1f, 0.2f, 0.4f, 1.0f};

/*
 * Check an array of weights of labels and copy it to weights[], which has TS_LABELS
 * elements.  As in ts_rank, a negative weight is replaced by the default weight.  Raises
 * an error for a weight above 1.
 */
static void
check_label_weights(ArrayType *array, float4 *weights)
{
	float4	   *given = (float4 *) ARR_DATA_PTR(array);

	check_array(array, "weights");
	if (array_nitems(array) != TS_LABELS)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array of weights must have %d elements", TS_LABELS),
				 errhint("The elements are the weights of the labels {D,C,B,A}, by default {0.1,0.2,0.4,1.0}.")));
	for (int i = 0; i < TS_LABELS; i++)
	{
		weights[i] = given[i] >= 0 ? given[i] : ts_default_weights[i];
		if (!(given[i] <= 1.0))
		{
			Datum		shown = DirectFunctionCall1(float4out, Float4GetDatum(given[i]));

			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("weight %s is out of range", DatumGetCString(shown)),
					 errhint("The weight of a label is at most 1; a negative one stands for the default.")));
		}
	}
}

/*
 * Return the weight of a lexeme, which is the sum of the weights of its occurrences.  A
 * lexeme without positions counts as one occurrence without a label.
 */
static int64
lexeme_weight(TSVector document, WordEntry *entry, const int64 *label_weights)
{
	int64		weight = 0;
	WordEntryPos *positions;

	if (!entry->haspos)
		return label_weights[0];
	positions = POSDATAPTR(document, entry);
	for (int i = 0; i < POSDATALEN(document, entry); i++)
		weight += label_weights[WEP_GETWEIGHT(positions[i])];
	return weight;
}

/*
 * simhash(document tsvector, weights float4[])
 */
PG_FUNCTION_INFO_V1(simhash_tsvector);
Datum
simhash_tsvector(PG_FUNCTION_ARGS)
{
	TSVector	document;
	WordEntry  *entries;
	float4		weights[TS_LABELS];
	int64		label_weights[TS_LABELS];
	Accumulator acc = {0};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	document = PG_GETARG_TSVECTOR(0);
	entries = ARRPTR(document);
	memcpy(weights, ts_default_weights, sizeof(weights));
	if (!PG_ARGISNULL(1))
		check_label_weights(PG_GETARG_ARRAYTYPE_P(1), weights);
	for (int i = 0; i < TS_LABELS; i++)
		label_weights[i] = check_weight(weights[i]);

	for (int i = 0; i < document->size; i++)
	{
		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (!accumulator_add_weighted(&acc,
									  hash_server_string(STRPTR(document) + entries[i].pos,
														 entries[i].len),
									  lexeme_weight(document, &entries[i],
													label_weights)))
			report_weights_overflow();
	}
	return fingerprint_of_sum(fcinfo, &acc);
}

/*
 * simhash_agg: the fingerprint of features in rows
 *
 * The state is an accumulator, as a bytea.  Its sums are integers, so neither the order of
 * the rows nor the number of workers changes the result.
 */
typedef struct AccumulatorState
{
	int32		vl_len_;		/* varlena header; not to be accessed directly */
	int32		unused;
	Accumulator acc;
} AccumulatorState;

/*
 * Return a state.  Raises an error if no aggregate calls the function, or if the bytes are no
 * state.
 */
static AccumulatorState *
check_state(FunctionCallInfo fcinfo, bytea *bytes)
{
	AccumulatorState *state = (AccumulatorState *) bytes;

	if (!AggCheckCallContext(fcinfo, NULL) || VARSIZE(state) != sizeof(AccumulatorState) ||
		state->acc.nbatch < 0 || state->acc.nbatch >= COUNT_BATCH)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument is not a state of the aggregate simhash_agg"),
				 errhint("Call the aggregate.")));
	return state;
}

/*
 * simhash_agg(feature) and simhash_agg(feature, weight)
 *
 * Transition function.  Ignores rows in which an argument is NULL, as other aggregates
 * do.
 */
PG_FUNCTION_INFO_V1(simhash_agg_transition);
Datum
simhash_agg_transition(PG_FUNCTION_ARGS)
{
	AccumulatorState *state;
	bool		weighted = PG_NARGS() > 2;

	if (PG_ARGISNULL(0))
	{
		state = palloc0(sizeof(AccumulatorState));
		SET_VARSIZE(state, sizeof(AccumulatorState));
	}
	else
		state = check_state(fcinfo, PG_GETARG_BYTEA_P(0));
	if (!PG_ARGISNULL(1) && !(weighted && PG_ARGISNULL(2)))
	{
		uint64		hash = hash_text(PG_GETARG_TEXT_PP(1));

		if (weighted)
			add_feature(&state->acc, hash, PG_GETARG_FLOAT8(2));
		else
			accumulator_add(&state->acc, hash);
	}
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(simhash_agg_combine);
Datum
simhash_agg_combine(PG_FUNCTION_ARGS)
{
	AccumulatorState *state = check_state(fcinfo, PG_GETARG_BYTEA_P(0));

	/* a copy, because the state of a worker may be misaligned */
	AccumulatorState *other = check_state(fcinfo, PG_GETARG_BYTEA_P_COPY(1));

	if (!accumulator_merge(&state->acc, &other->acc))
		report_weights_overflow();
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(simhash_agg_final);
Datum
simhash_agg_final(PG_FUNCTION_ARGS)
{
	return fingerprint_of_sum(fcinfo, &check_state(fcinfo, PG_GETARG_BYTEA_P(0))->acc);
}
