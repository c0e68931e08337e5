/*
 * From the set of a text's shingles to a fingerprint
 *
 * A shingle counts once, however often it occurs.  So repeated text does not outweigh
 * other text.  Examples are a name in the sidebar of a page, and "0 0" in the tables of a
 * page.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_DISTINCT_H
#define SIMHASH_DISTINCT_H

#include "digest/accumulate.h"
#include "text/hash_set.h"

/*
 * Maximum number of features that count, so that the memory used does not depend on the
 * text.  If there are more, only the features of smallest rank count (distinct.c).  This
 * choice depends neither on the order of the features nor on how often they occur.  It is
 * part of the definition of the fingerprint.
 */
#define DISTINCT_MAX		(UINT64CONST(1) << 20)

#define RANK_ANY			PG_UINT64_MAX

typedef struct DistinctFeatures
{
	Accumulator acc;			/* counts the features of the set; its batch has the
								 * features to add to the set next */
	uint64		greatest_rank;	/* greatest rank that was kept when features were last
								 * dropped, or RANK_ANY */
	HashSet		set;
} DistinctFeatures;

extern void distinct_init(DistinctFeatures *features, uint64 expected);
extern void distinct_add_batch(DistinctFeatures *features);
extern Accumulator *distinct_finish(DistinctFeatures *features);

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
