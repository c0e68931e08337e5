/*
 * Operator class of signatures, whose keys are hashes of their bands
 *
 * A key is a hash of a band and the band's number.  Signatures that share a band have a
 * common key.  If hashes collide, other signatures have a common key, too.  So the
 * operator is rechecked on each row.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "lib/qunique.h"
#include "nodes/pathnodes.h"

#include "bits.h"
#include "compat.h"
#include "index/opclass.h"
#include "type/minhash_type.h"

/*
 * Extract the keys of a signature, one for each band, in ascending order without
 * duplicates.
 */
static void
signature_keys(Datum value, KeySet *keys)
{
	Minhash    *sig = minhash_detoast(value);
	int			bands = sig->params.bands;
	uint64	   *key = palloc(bands * sizeof(uint64));

	for (int i = 0; i < bands; i++)
		key[i] = minhash_band_key(sig, i);
	qsort(key, bands, sizeof(uint64), bits_compare);
	keys->n = qunique(key, bands, sizeof(uint64), bits_compare);
	keys->key = key;
	keys->params = minhash_typmod(sig->params);
	if ((Pointer) sig != DatumGetPointer(value))
		pfree(sig);
}

/*
 * Extract the query keys, which are the keys of the argument.  Every matching row contains
 * at least one of them.
 */
static bool
query_bands(const ScanKeyData *key, KeySet *keys)
{
	signature_keys(key->sk_argument, keys);
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
 * Return the estimated number of query keys, which is the number of bands.  typmod has the
 * parameters of the index.  If they are unknown, returns MINHASH_DEFAULT_BANDS.
 */
static double
estimate_bands(PlannerInfo *root, int32 typmod, int strategy, const OpExpr *clause,
			   bool *unknown)
{
	return params_are_valid(typmod) ? minhash_params_of_typmod(typmod).bands :
		MINHASH_DEFAULT_BANDS;
}

static const MultiKeyMethods signature_methods = {
	.extract_value = signature_keys,
	.extract_query = query_bands,
	.estimate_query_keys = estimate_bands,
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
	.operators = {
		[STRATEGY_SHARES_BAND] = simhash_minhash_shares_band,
	},
	.multi_key = &signature_methods,
	.params = &signature_params,
};

PG_FUNCTION_INFO_V1(simhash_minhash_opclass);
Datum
simhash_minhash_opclass(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&signature_opclass);
}
