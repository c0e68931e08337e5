/*-------------------------------------------------------------------------
 *
 * minhash_opclass.c
 *		Operator class of signatures, found by their bands
 *
 * A hash of each band and its number is a word.  Signatures that share a band share a
 * word.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/qunique.h"
#include "nodes/pathnodes.h"

#include "bits.h"
#include "compat.h"
#include "index/opclass.h"
#include "index/strategy.h"
#include "type/minhash_type.h"

/*
 * The words of a signature's bands, in order, each once.
 */
static void
signature_words(Datum value, Words *words)
{
	Minhash    *sig = minhash_detoast(value);
	int			bands = sig->params.bands;
	uint64	   *word = palloc(bands * sizeof(uint64));

	for (int i = 0; i < bands; i++)
		word[i] = minhash_band_key(sig, i);
	qsort(word, bands, sizeof(uint64), bits_compare);
	words->n = qunique(word, bands, sizeof(uint64), bits_compare);
	words->word = word;
	words->params = minhash_typmod(sig->params);
	if ((Pointer) sig != DatumGetPointer(value))
		pfree(sig);
}

static bool
sought_bands(const ScanKeyData *key, Words *words)
{
	signature_words(key->sk_argument, words);
	return true;
}

static bool
params_are_valid(int32 typmod)
{
	return minhash_params_are_valid(minhash_params_of_typmod(typmod));
}

static const char *
params_name(int32 typmod)
{
	return minhash_params_name(minhash_params_of_typmod(typmod));
}

/*
 * Estimate the number of words that are searched for: the number of bands.
 */
static double
estimate_bands(PlannerInfo *root, int32 typmod, int strategy, const OpExpr *clause,
			   bool *unknown)
{
	return params_are_valid(typmod) ? minhash_params_of_typmod(typmod).bands :
		MINHASH_DEFAULT_BANDS;
}

static const OpclassOperator signature_operators[] = {
	{STRATEGY_SHARES_BAND, simhash_minhash_shares_band},
};

static const MultiKeyMethods signature_methods = {
	.get_words = signature_words,
	.get_sought = sought_bands,
	.estimate_sought = estimate_bands,
};

static const ParamsMethods signature_params = {
	.are_valid = params_are_valid,
	.name = params_name,
	.example = MINHASH_TYPMOD(MINHASH_DEFAULT_BANDS, MINHASH_DEFAULT_ROWS,
							  MINHASH_OF_WORDS, MINHASH_DEFAULT_WORDS),
};

static const Opclass signature_opclass = {
	.length = -1,
	.recheck = true,
	.operators = signature_operators,
	.noperators = lengthof(signature_operators),
	.multi_key = &signature_methods,
	.params = &signature_params,
};

PG_FUNCTION_INFO_V1(simhash_minhash_opclass);
Datum
simhash_minhash_opclass(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&signature_opclass);
}
