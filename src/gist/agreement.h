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

#include "type/simhash_type.h"

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
	Agreement	centers;		/* first: pick_split.c takes the key for an Agreement */
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
agreement_unite(Agreement *agreement, const Agreement *other)
{
	agreement->mask &= ~agreement_lost(agreement, other);
	agreement->value &= agreement->mask;
}

static inline bool
agreement_equal(const Agreement *a, const Agreement *b)
{
	return a->mask == b->mask && a->value == b->value;
}

/*
 * Keys stand in indexes only: for the input functions of their types.
 */
static inline void
refuse_key(const char *type)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot accept a value of type %s", type),
			 errhint("Values of this type stand in indexes only.")));
}

/*
 * The entry with a key in place of a value, or the other way round.
 */
static inline Datum
entry_with(const GISTENTRY *entry, Datum key)
{
	GISTENTRY  *result = palloc(sizeof(GISTENTRY));

	gistentryinit(*result, key, entry->rel, entry->page, entry->offset, false);
	PG_RETURN_POINTER(result);
}

/*
 * Makes a key that of the entries below another one, too.  All keys begin with an
 * Agreement.
 */
typedef void (*UniteKeys) (Agreement *key, const Agreement *other);

/* pick_split.c */
extern Datum keys_union(FunctionCallInfo fcinfo, Size size, UniteKeys unite);
extern Datum keys_picksplit(FunctionCallInfo fcinfo, Size size, UniteKeys unite);
extern float agreement_penalty(const Agreement *agreement, const Agreement *other);

#endif							/* SIMHASH_AGREEMENT_H */
