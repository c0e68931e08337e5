/*-------------------------------------------------------------------------
 *
 * distinct.h
 *		From the set of a text's shingles to a fingerprint
 *
 * A shingle counts once, however often it occurs: so what is repeated (the name
 * in a page's sidebar, "0 0" in its tables) does not outweigh the rest.
 *
 *		DistinctFeatures features;
 *
 *		distinct_init(&features, expected);
 *		distinct_add(&features, hash);
 *		known = distinct_finish(&features, &fingerprint);
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DISTINCT_H
#define SIMHASH_DISTINCT_H

#include "digest/accumulate.h"
#include "text/hash_set.h"

/*
 * So many features count, so that memory does not depend on the text.  Of more,
 * those of the smallest rank (distinct.c): a choice that depends neither on their
 * order nor on how often they occur.  Part of the definition of the fingerprint.
 */
#define DISTINCT_MAX		(UINT64CONST(1) << 20)

#define RANK_ANY			PG_UINT64_MAX

typedef struct DistinctFeatures
{
	Accumulator acc;			/* has what is in the set; its batch waits for both */
	uint64		greatest_rank;	/* of those kept when some were dropped last, or
								 * RANK_ANY */
	HashSet		set;
} DistinctFeatures;

extern void distinct_init(DistinctFeatures *features, uint64 expected);
extern void distinct_add_batch(DistinctFeatures *features);
extern bool distinct_finish(DistinctFeatures *features, SimHash *fingerprint);

/*
 * Add the hash of a feature.  Features with one hash are one.
 */
static inline void
distinct_add(DistinctFeatures *features, uint64 hash)
{
	features->acc.batch[features->acc.nbatch++] = hash;
	if (features->acc.nbatch == COUNT_BATCH)
		distinct_add_batch(features);
}

#endif							/* SIMHASH_DISTINCT_H */
