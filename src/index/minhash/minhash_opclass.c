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

/*
 * Return the estimated number of query keys, which is the number of bands.  typmod has the
 * parameters of the index.  If they are unknown, returns MINHASH_DEFAULT_BANDS.
 */
static double
estimate_bands(PlannerInfo *root, int32 typmod, int strategy, const OpExpr *clause,
			   bool *unknown)
{
	MinhashParams params = minhash_params_of_typmod(typmod);

	return minhash_params_are_valid(params) ? params.bands : MINHASH_DEFAULT_BANDS;
}

static const MultiKeyMethods signature_methods = {
	.extract_value = signature_keys,
	.extract_query = query_bands,
	.estimate_query_keys = estimate_bands,
};

static const Opclass signature_opclass = {
	.length = -1,
	.recheck = true,
	.operators = {
		[STRATEGY_SHARES_BAND] = simhash_minhash_shares_band,
	},
	.multi_key = &signature_methods,
	.has_params = true,
};

OPCLASS_FUNCTION(simhash_minhash_opclass, signature_opclass);
