/*-------------------------------------------------------------------------
 *
 * minhash.h
 *		From hashed features to the minima of a signature
 *
 * Broder, "On the resemblance and containment of documents", 1997: under a random
 * order of all features, two sets have the same first one with a probability that is
 * their resemblance, |A & B| / |A | B|.  Each place of a signature has an order of its
 * own, and keeps the smallest rank.
 *
 *		MinimaBuilder builder;
 *
 *		minima_begin(&builder, minima, nplaces);
 *		minima_add(&builder, hash);
 *		any = minima_finish(&builder);
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_MINHASH_DIGEST_H
#define SIMHASH_MINHASH_DIGEST_H

#include "cpu.h"

/* Places of a signature, at most: more would estimate better than to 0.8%. */
#define MINIMA_MAX				4096

/* Places of a band, at most. */
#define MINIMA_MAX_ROWS			64

/* The minimum of nothing. */
#define MINIMUM_OF_NONE			PG_UINT32_MAX

/* Hashes that are ranked together, so that a place's constants are loaded once. */
#define MINIMA_BATCH			16

/*
 * Lowers each of n minima, of the places 0 to n - 1, to the smallest rank of some
 * hashes.  n is 1 to MINIMA_MAX.
 */
typedef void (*LowerFunction) (uint32 *minima, int n, const uint64 *hashes, int nhashes);

/* For tests: the ways to do it.  They may be called after the best one was. */
extern const CpuMethod minima_lower_methods[];
extern const int minima_lower_nmethods;

/* The best available. */
extern LowerFunction minima_lower;

/*
 * Minima that features are added to one by one.  What occurs again changes nothing,
 * so no set of features is kept.
 */
typedef struct MinimaBuilder
{
	uint32	   *minima;			/* the caller's */
	int			n;
	bool		any;			/* was there a feature? */
	int			nbatch;
	uint64		batch[MINIMA_BATCH];	/* of features that wait */
} MinimaBuilder;

extern void minima_begin(MinimaBuilder *builder, uint32 *minima, int n);
extern void minima_add_batch(MinimaBuilder *builder);
extern bool minima_finish(MinimaBuilder *builder);

/*
 * Add the hash of a feature.
 */
static inline void
minima_add(MinimaBuilder *builder, uint64 hash)
{
	builder->batch[builder->nbatch++] = hash;
	if (builder->nbatch == MINIMA_BATCH)
		minima_add_batch(builder);
}

extern void minima_unite(uint32 *minima, const uint32 *other, int n);
extern int	minima_count_equal(const uint32 *a, const uint32 *b, int n);
extern int	minima_count_first(const uint32 *a, const uint32 *b, int n);
extern double minima_cardinality(const uint32 *minima, int n);
extern bool minima_share_band(const uint32 *a, const uint32 *b, int bands, int rows);
extern uint64 minima_band_key(const uint32 *minima, int band, int rows);

#endif							/* SIMHASH_MINHASH_DIGEST_H */
