/*-------------------------------------------------------------------------
 *
 * match.h
 *		Comparison of many keys with the query's
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_MATCH_H
#define SIMHASH_MATCH_H

#include "cpu.h"

/*
 * Find the keys, of n, that differ from the query in at most `radius` bits.  Write their
 * positions, ascending, and return their number.  The array of positions must have
 * capacity for n.
 */
typedef int (*MatchFunction) (const uint64 *keys, int n, uint64 query, int radius,
							  uint16 *positions);

/* The implementations, for tests. */
extern const CpuMethod match_methods[];
extern const int match_nmethods;

/* The best implementation that the processor has. */
extern MatchFunction match_keys;

#endif							/* SIMHASH_MATCH_H */
