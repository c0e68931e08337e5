/*-------------------------------------------------------------------------
 *
 * agreement.h
 *		Keys of GiST: what the fingerprints below an entry agree on
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_AGREEMENT_H
#define SIMHASH_AGREEMENT_H

#include "access/gist.h"
#include "utils/sortsupport.h"

#include "type/simhash.h"

/*
 * The bits that some fingerprints agree on, and their values; all other bits of the
 * value are zero.  Of one fingerprint these are all bits, and itself.
 */
typedef struct Agreement
{
	uint64		mask;
	SimHash		value;
} Agreement;

#define ALL_BITS					PG_UINT64_MAX

/*
 * The same of the centers of balls, and the greatest radius of these balls.
 */
typedef struct BallAgreement
{
	Agreement	centers;		/* first: split.c takes it for an Agreement */
	int32		radius;
	int32		unused;			/* zero */
} BallAgreement;

#define DatumGetAgreementP(datum)	((Agreement *) DatumGetPointer(datum))
#define DatumGetBallAgreementP(datum) ((BallAgreement *) DatumGetPointer(datum))

/*
 * How far a fingerprint is at least from each of those that agree: there is no nearer
 * one, and of a single fingerprint this is the distance.
 */
static inline int
agreement_distance(const Agreement *agreement, SimHash fp)
{
	return pg_popcount64((agreement->value ^ fp) & agreement->mask);
}

/*
 * What an agreement loses when others join, as a mask.
 */
static inline uint64
agreement_lost(const Agreement *agreement, const Agreement *other)
{
	return agreement->mask & ~(other->mask & ~(agreement->value ^ other->value));
}

static inline void
agreement_join(Agreement *agreement, const Agreement *other)
{
	agreement->mask &= ~agreement_lost(agreement, other);
	agreement->value &= agreement->mask;
}

static inline bool
agreement_equal(const Agreement *a, const Agreement *b)
{
	return a->mask == b->mask && a->value == b->value;
}

/* split.c */
extern float agreement_penalty(const Agreement *agreement, const Agreement *other);
extern void agreement_split(const GistEntryVector *entries, GIST_SPLITVEC *split);
extern void agreement_sort(SortSupport ssup);

#endif							/* SIMHASH_AGREEMENT_H */
