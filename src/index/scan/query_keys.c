/*-------------------------------------------------------------------------
 *
 * query_keys.c
 *		Query keys of a scan of a multi-key index
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
 * Extract the query keys of nkeys scan keys, for rows that are not NULL.  Stores a set of
 * query keys in `sets` for each scan key, at most nkeys sets.  Sets *nsets to the number
 * of sets.  A scan key has no set if every row that is not NULL matches it.  This is so
 * for IS NOT NULL, and for an operator that needs a full index scan.
 *
 * Returns false if no row matches.  Raises an error if the parameters of a query differ
 * from those of the index.
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
		if (set.n == 0 && !set.or_empty)
			return false;
		sets[(*nsets)++] = set;
	}
	return true;
}

/*
 * Return the set of query keys to search for.  This is the set with the greatest
 * min_match.  If several sets have the greatest min_match, it is one with the fewest
 * keys.  nsets is at least 1.
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
 * Set query->min_match and query->or_empty for a scan in order of overlap with `query`.
 * min_match is the greatest of the sets with the same keys as `query`, or 0 if there is no
 * such set.  or_empty is true if all of these sets have or_empty.  Sets *recheck to true
 * if the scan does not check a set: one with other keys, or with or_empty.
 */
void
query_keys_limit(const KeySet *sets, int nsets, KeySet *query, bool *recheck)
{
	query->min_match = 0;
	query->or_empty = true;
	for (int i = 0; i < nsets; i++)
	{
		bool		same = sets[i].n == query->n &&
			(query->n == 0 ||
			 memcmp(sets[i].key, query->key, query->n * sizeof(uint64)) == 0);

		*recheck |= !same || sets[i].or_empty;
		if (!same)
			continue;
		query->min_match = Max(query->min_match, sets[i].min_match);
		query->or_empty &= sets[i].or_empty;
	}
}
