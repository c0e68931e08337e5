/*-------------------------------------------------------------------------
 *
 * distinct.h
 *		From the set of a text's shingles to a fingerprint
 *
 * A shingle counts once, however often it occurs.  So repeated text (the name in a page's
 * sidebar, "0 0" in its tables) does not outweigh the rest.
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
 * Maximum number of features that count, so that memory does not depend on the text.  Of
 * more features, those of the smallest rank (distinct.c) count.  This choice depends
 * neither on the order of features nor on how often they occur.  It is part of the
 * definition of the fingerprint.
 */
#define DISTINCT_MAX		(UINT64CONST(1) << 20)

#define RANK_ANY			PG_UINT64_MAX

typedef struct DistinctFeatures
{
	Accumulator acc;			/* counts the features of the set; its batch waits for
								 * both */
	uint64		greatest_rank;	/* greatest rank kept when features were last dropped,
								 * or RANK_ANY */
	HashSet		set;
} DistinctFeatures;

extern void distinct_init(DistinctFeatures *features, uint64 expected);
extern void distinct_add_batch(DistinctFeatures *features);
extern bool distinct_finish(DistinctFeatures *features, SimHash *fingerprint);

/*
 * Add the hash of a feature.  Features with the same hash are one feature.
 */
static inline void
distinct_add(DistinctFeatures *features, uint64 hash)
{
	features->acc.batch[features->acc.nbatch++] = hash;
	if (features->acc.nbatch == COUNT_BATCH)
		distinct_add_batch(features);
}

#endif							/* SIMHASH_DISTINCT_H */
