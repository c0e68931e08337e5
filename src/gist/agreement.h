/*-------------------------------------------------------------------------
 *
 * agreement.h
 *		GiST keys: the bits on which all fingerprints below an entry agree
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
 * The bits on which some fingerprints agree.  The agreement of a single fingerprint has
 * all bits, and its value is the fingerprint.
 */
typedef struct Agreement
{
	uint64		mask;			/* mask of the agreed bits */
	SimHash		value;			/* values of the agreed bits; the other bits are zero */
} Agreement;

#define ALL_BITS					PG_UINT64_MAX

/*
 * The bits on which the centers of some balls agree, and the greatest radius of these
 * balls.
 */
typedef struct BallAgreement
{
	Agreement	centers;		/* must be first: pick_split.c reads each key as an
								 * Agreement */
	int32		radius;			/* greatest radius, in bits */
	int32		unused;			/* zero */
} BallAgreement;

#define DatumGetAgreementP(datum)	((Agreement *) DatumGetPointer(datum))
#define DatumGetBallAgreementP(datum) ((BallAgreement *) DatumGetPointer(datum))

/*
 * Return a lower bound, in bits, of the distance from fp to any fingerprint of an
 * agreement.  For the agreement of a single fingerprint, the result is the distance.
 */
static inline int
agreement_distance(const Agreement *agreement, SimHash fp)
{
	return pg_popcount64((agreement->value ^ fp) & agreement->mask);
}

/*
 * Return the mask of the bits that an agreement loses in a union with another agreement.
 */
static inline uint64
agreement_lost(const Agreement *agreement, const Agreement *other)
{
	return agreement->mask & ~(other->mask & ~(agreement->value ^ other->value));
}

/*
 * Replace an agreement by its union with another agreement.
 */
static inline void
agreement_unite(Agreement *agreement, const Agreement *other)
{
	agreement->mask &= ~agreement_lost(agreement, other);
	agreement->value &= agreement->mask;
}

/*
 * Return true if two agreements are equal.
 */
static inline bool
agreement_equal(const Agreement *a, const Agreement *b)
{
	return a->mask == b->mask && a->value == b->value;
}

/*
 * Raise the error of a key type's input function.  Keys exist in indexes only, so no text
 * is valid input.
 */
static inline void
refuse_key(const char *type)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot accept a value of type %s", type),
			 errhint("Values of this type exist in indexes only.")));
}

/*
 * Return a copy of an entry with another datum in it, such as a key instead of a value.
 * The copy is allocated, and is not marked as a leaf key.
 */
static inline Datum
entry_with(const GISTENTRY *entry, Datum key)
{
	GISTENTRY  *result = palloc(sizeof(GISTENTRY));

	gistentryinit(*result, key, entry->rel, entry->page, entry->offset, false);
	PG_RETURN_POINTER(result);
}

/*
 * Replace a key by its union with another key.  All keys begin with an Agreement.
 */
typedef void (*UniteKeys) (Agreement *key, const Agreement *other);

/* pick_split.c */
extern Datum keys_union(FunctionCallInfo fcinfo, Size size, UniteKeys unite);
extern Datum keys_picksplit(FunctionCallInfo fcinfo, Size size, UniteKeys unite);
extern float agreement_penalty(const Agreement *agreement, const Agreement *other);

#endif							/* SIMHASH_AGREEMENT_H */
