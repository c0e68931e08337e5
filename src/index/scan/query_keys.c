/*-------------------------------------------------------------------------
 *
 * query_keys.c
 *		The keys that a scan of a multi-key operator class looks for
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "index/params.h"
#include "index/scan/query_keys.h"
#include "index/tree/meta.h"

/*
 * Extract the query keys: a set of keys for each scan key that not all rows match, at most
 * nkeys.  Returns false if nothing matches.  Raises an error if a search is for a value with
 * other parameters than the index has.
 */
bool
query_keys_read(Relation index, const Opclass *opclass, const ScanKeyData *keys, int nkeys,
				KeySet *sets, int *nsets)
{
	*nsets = 0;
	for (int i = 0; i < nkeys; i++)
	{
		KeySet		set;
		bool		all;

		if (keys[i].sk_flags & SK_ISNULL)
			continue;			/* IS NOT NULL */
		all = !opclass_extract_query(opclass, &keys[i], &set);
		params_check(index, opclass, meta_get(index)->params, set.params);
		if (all)
			continue;
		Assert(set.key != &set.inline_key);
		if (set.n == 0)
			return false;
		sets[(*nsets)++] = set;
	}
	return true;
}

/*
 * Return the set of keys to search for: that of which a row has to have the most, or else
 * the smallest one.
 */
const KeySet *
query_keys_best(const KeySet *sets, int nsets)
{
	const KeySet *best = &sets[0];

	for (int i = 1; i < nsets; i++)
		if (sets[i].min_match != best->min_match ?
			sets[i].min_match > best->min_match : sets[i].n < best->n)
			best = &sets[i];
	return best;
}

/*
 * Return how many of the keys of an order a row has to have, by those sets that are the
 * same keys.  For others *recheck is set.
 */
int
query_keys_min_match(const KeySet *sets, int nsets, const KeySet *query, bool *recheck)
{
	int			min_match = 0;

	for (int i = 0; i < nsets; i++)
		if (sets[i].n == query->n &&
			memcmp(sets[i].key, query->key, query->n * sizeof(uint64)) == 0)
			min_match = Max(min_match, sets[i].min_match);
		else
			*recheck = true;
	return min_match;
}
