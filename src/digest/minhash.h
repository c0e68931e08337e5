/*-------------------------------------------------------------------------
 *
 * minhash.h
 *		From hashed features to the minima of a signature
 *
 * Broder, "On the resemblance and containment of documents", 1997: in a random order of
 * all features, two sets have the same first feature with a probability that is their
 * resemblance, |A & B| / |A | B|.  Each minimum of a signature belongs to an order of its
 * own.  It is the smallest rank of any feature in that order.
 *
 * Signatures are cut into bands for LSH banding (locality-sensitive hashing): two
 * signatures share a band if all minima of the band are equal.
 *
 *		MinimaBuilder builder;
 *
 *		minima_begin(&builder, minima, length);
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

/*
 * Maximum length of a signature, in minima: more would estimate resemblance better than
 * to 0.8%.
 */
#define MINIMA_MAX				4096

/* Maximum number of minima of a band. */
#define MINIMA_MAX_ROWS			64

/* The minimum of the empty set. */
#define MINIMUM_OF_NONE			PG_UINT32_MAX

/*
 * Hashes that are ranked together, so that a multiplier is loaded once for all of them.
 */
#define MINIMA_BATCH			16

/*
 * Lower minima[0..n-1] to the smallest ranks of some hashes.  n is 1 to MINIMA_MAX.
 */
typedef void (*LowerFunction) (uint32 *minima, int n, const uint64 *hashes, int nhashes);

/* All methods, for tests.  They may be called once minima_lower has been called. */
extern const CpuMethod minima_lower_methods[];
extern const int minima_lower_nmethods;

/* The best method that the processor has. */
extern LowerFunction minima_lower;

/*
 * Minima of a set that features are added to one by one.  A repeated feature changes
 * nothing, so the features themselves are not kept.
 */
typedef struct MinimaBuilder
{
	uint32	   *minima;			/* the caller's array */
	int			n;
	bool		any;			/* true if there was a feature */
	int			nbatch;
	uint64		batch[MINIMA_BATCH];	/* hashes not added yet */
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
