/*
 * Comparison of many keys with query keys
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_MATCH_H
#define SIMHASH_MATCH_H

#include "cpu.h"

/* A query and a key that match, as positions in their arrays. */
typedef struct KeyMatch
{
	uint16		query;
	uint16		key;
} KeyMatch;

/* Condition on the bits in which a query and a key differ. */
typedef struct MatchRule
{
	int			radius;			/* maximum number of the bits */
	uint64		same;			/* mask that has none of the bits */
	const uint64 *differ;		/* masks that each have at least one of the bits */
	int			ndiffer;
} MatchRule;

/*
 * Finds the queries and keys that match by the rule.  If `queries` is `keys`, each query is only
 * compared with the keys after it.  Writes the matches to matches[], in ascending order of keys
 * for each query, and returns their number.  matches[] must have capacity for all pairs that are
 * compared.
 */
typedef int (*MatchFunction) (const uint64 *queries, int nqueries, const uint64 *keys, int nkeys,
							  const MatchRule *rule, KeyMatch *matches);

/* All methods, the best one first, for tests. */
extern const CpuMethod match_methods[];
extern const int match_nmethods;

/* The best method that the processor supports. */
extern MatchFunction match_keys;

#endif							/* SIMHASH_MATCH_H */
