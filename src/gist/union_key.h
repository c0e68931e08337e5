/*
 * GiST keys: the bits on which all fingerprints below an entry agree
 *
 * The key of an entry is a mask and a value, 16 bytes.  The mask has the bits on which all
 * fingerprints below the entry agree, and the value these bits.  The union key of several
 * keys keeps the bits on which they agree.  The number of agreed bits that differ from the
 * query is a lower bound of the distance of everything below the entry, and on a leaf it is
 * the distance.  So union_key_distance serves everything, and nothing is rechecked: a scan
 * visits an entry for <@ if the bound is at most the radius, for = if it is 0, and for
 * ORDER BY <~> in its order.
 *
 * The key of a ball is the key of its center, and its radius.  The union of balls has their
 * greatest radius. =~= holds if the distance of two centers is at most the smaller radius
 * of the two.  So a scan skips an entry if the bound exceeds the query's radius, or the
 * greatest radius below.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_UNION_KEY_H
#define SIMHASH_UNION_KEY_H

#include "access/gist.h"

#include "type/simhash_type.h"

/*
 * The union key of some fingerprints: the bits on which they agree.  The key of a single
 * fingerprint has all bits, and its value is the fingerprint.
 */
typedef struct UnionKey
{
	uint64		mask;			/* mask of the agreed bits */
	SimHash		value;			/* values of the agreed bits; the other bits are zero */
} UnionKey;

#define ALL_BITS					PG_UINT64_MAX

/*
 * The union key of some balls: the union key of their centers, and the greatest radius of
 * the balls.
 */
typedef struct BallUnionKey
{
	UnionKey	centers;		/* must be first: pick_split.c reads each key as a
								 * UnionKey */
	int32		radius;			/* greatest radius, in bits */
	int32		unused;			/* zero */
} BallUnionKey;

#define DatumGetUnionKeyP(datum)	((UnionKey *) DatumGetPointer(datum))
#define DatumGetBallUnionKeyP(datum) ((BallUnionKey *) DatumGetPointer(datum))

/*
 * Return a lower bound, in bits, of the distance from fp to any fingerprint of a key.  For
 * the key of a single fingerprint, the result is the distance.
 */
static inline int
union_key_distance(const UnionKey *key, SimHash fp)
{
	return pg_popcount64((key->value ^ fp) & key->mask);
}

/*
 * Return the mask of the bits that a key loses in a union with another key.
 */
static inline uint64
union_key_lost(const UnionKey *key, const UnionKey *other)
{
	return key->mask & ~(other->mask & ~(key->value ^ other->value));
}

/*
 * Replace a key by its union with another key.
 */
static inline void
union_key_unite(UnionKey *key, const UnionKey *other)
{
	key->mask &= ~union_key_lost(key, other);
	key->value &= key->mask;
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
	return PointerGetDatum(result);
}

/*
 * A function like union_key_unite(), for keys of one type.  All keys begin with a UnionKey.
 */
typedef void (*UniteKeys) (UnionKey *key, const UnionKey *other);

/* pick_split.c */
extern Datum keys_union(FunctionCallInfo fcinfo, Size size, UniteKeys unite);
extern Datum keys_picksplit(FunctionCallInfo fcinfo, Size size, UniteKeys unite);
extern float union_key_penalty(const UnionKey *key, const UnionKey *other);

#endif							/* SIMHASH_UNION_KEY_H */
