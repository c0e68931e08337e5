/*-------------------------------------------------------------------------
 *
 * match.h
 *		Which of many keys are near the query's
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_MATCH_H
#define SIMHASH_MATCH_H

#include "cpu.h"

/*
 * Writes the positions of those of n keys that differ from the query's in at
 * most `radius` bits; returns their number.  The array has capacity for n.
 */
typedef int (*MatchFunction) (const uint64 *keys, int n, uint64 query, int radius,
							  uint16 *positions);

/* For tests: the ways to do it. */
extern const CpuMethod match_methods[];
extern const int match_nmethods;

/* The best available. */
extern MatchFunction match_keys;

#endif							/* SIMHASH_MATCH_H */
