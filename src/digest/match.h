/*
 * Comparison of many keys with a query key
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_MATCH_H
#define SIMHASH_MATCH_H

#include "cpu.h"

/*
 * Finds those of n keys that differ from the query in at most `radius` bits.  Writes their
 * positions to positions[] in ascending order, and returns their number.  positions[] must
 * have capacity for n.
 */
typedef int (*MatchFunction) (const uint64 *keys, int n, uint64 query, int radius,
							  uint16 *positions);

/* All methods, the best one first, for tests. */
extern const CpuMethod match_methods[];
extern const int match_nmethods;

/* The best method that the processor supports. */
extern MatchFunction match_keys;

#endif							/* SIMHASH_MATCH_H */
