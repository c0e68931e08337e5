/*
 * From hashed features to the minima of a signature
 *
 * Broder, "On the resemblance and containment of documents", 1997: in a random order of
 * all features, the probability that two sets have the same first feature is their
 * resemblance, |A & B| / |A | B|.  Each minimum of a signature has its own order.  The
 * minimum is the smallest rank of any feature of the set in this order.
 *
 * Signatures are cut into bands for LSH banding (locality-sensitive hashing).  Two
 * signatures share a band if all minima of the band are equal.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_MINHASH_DIGEST_H
#define SIMHASH_MINHASH_DIGEST_H

#include "cpu.h"

/*
 * Maximum length of a signature, in minima.  A signature of this length estimates
 * resemblance with a standard error of at most 0.8%.
 */
#define MINIMA_MAX				4096

/* Maximum number of minima of a band. */
#define MINIMA_MAX_ROWS			64

/* Each minimum of the empty set. */
#define MINIMUM_OF_NONE			PG_UINT32_MAX

/*
 * Number of hashes that are ranked together, so that a multiplier is loaded once for all
 * of them.
 */
#define MINIMA_BATCH			16

/*
 * Replaces each of minima[0..n-1] by the smallest rank of some hashes, if that is smaller.
 * n is 1 to MINIMA_MAX.
 */
typedef void (*LowerFunction) (uint32 *minima, int n, const uint64 *hashes, int nhashes);

/*
 * All methods, for tests.  minima_lower must have been called before one of them is
 * called.
 */
extern const CpuMethod minima_lower_methods[];
extern const int minima_lower_nmethods;

/* The best method that the processor supports. */
extern LowerFunction minima_lower;

/*
 * Builder of the minima of a set, to which features are added one by one.  A repeated
 * feature changes nothing, so the features themselves are not stored.
 */
typedef struct MinimaBuilder
{
	uint32	   *minima;			/* the caller's array */
	int			n;
	bool		any;			/* true if a feature has been added */
	int			nbatch;
	uint64		batch[MINIMA_BATCH];	/* hashes to add next */
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
