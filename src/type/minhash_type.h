/*-------------------------------------------------------------------------
 *
 * minhash_type.h
 *		The type minhash: a signature, and what it was made of
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_MINHASH_TYPE_H
#define SIMHASH_MINHASH_TYPE_H

#include "fmgr.h"

#include "digest/minhash.h"
#include "text/shingle.h"

/*
 * What the features of a set are.  The numbers are stored.
 */
typedef enum MinhashUnit
{
	MINHASH_OF_WORDS = 0,		/* shingles of words */
	MINHASH_OF_CHARS = 1,		/* shingles of characters */
	MINHASH_OF_FEATURES = 2,	/* texts, as they are */
	MINHASH_OF_HASHES = 3		/* numbers of 64 bits */
} MinhashUnit;

/*
 * How a signature was made: those of different make cannot be compared.
 */
typedef struct MinhashMake
{
	uint16		bands;			/* 1 to MINHASH_MAX_BANDS */
	uint16		width;			/* of shingles, in units; of other features 0 */
	uint8		rows;			/* of a band; 1 to MINHASH_MAX_ROWS */
	uint8		unit;			/* a MinhashUnit */
} MinhashMake;

static inline MinhashMake
minhash_make(int bands, int rows, int unit, int width)
{
	MinhashMake make;

	make.bands = bands;
	make.rows = rows;
	make.unit = unit;
	make.width = width;
	return make;
}

#define MINHASH_MAX_BANDS		1024
#define MINHASH_MAX_ROWS		MINIMA_MAX_ROWS
#define MINHASH_MAX_PLACES		MINIMA_MAX	/* bands * rows */

/* What functions make where they are not told: docs/minhash.md says why. */
#define MINHASH_DEFAULT_BANDS	18
#define MINHASH_DEFAULT_ROWS	7

static inline int
minhash_default_width(ShingleUnit unit)
{
	return unit == UNIT_WORD ? 3 : 8;
}

/*
 * A signature.  The minima of band i are those from i * rows on.
 */
typedef struct Minhash
{
	int32		vl_len_;		/* varlena header, not to be touched directly */
	MinhashMake make;
	uint8		version;		/* MINHASH_VERSION */
	uint8		unused;			/* zero */
	uint32		minima[FLEXIBLE_ARRAY_MEMBER];
} Minhash;

/* A new one, where the same features get other minima. */
#define MINHASH_VERSION			1

#define MINHASH_SIZE(places)	(offsetof(Minhash, minima) + (places) * sizeof(uint32))

static inline int
minhash_places(const Minhash *sig)
{
	return sig->make.bands * sig->make.rows;
}

/*
 * What stands for a band, 0 to bands - 1, and its minima in an index.
 */
static inline uint64
minhash_band_word(const Minhash *sig, int band)
{
	return minima_band_word(sig->minima, band, sig->make.rows);
}

/*
 * A make as a number, which is not 0, and back; of any other number comes one that
 * minhash_make_is_valid denies.
 */
static inline uint64
minhash_make_number(MinhashMake make)
{
	return (uint64) make.bands << 32 | (uint64) make.width << 16 |
		(uint64) make.rows << 8 | make.unit;
}

static inline MinhashMake
minhash_make_of_number(uint64 number)
{
	return minhash_make(number >> 48 ? 0 : number >> 32, (number >> 8) & 0xFF,
						number & 0xFF, (number >> 16) & 0xFFFF);
}

/* A type modifier, minhash(bands, rows), in a number. */
#define MINHASH_TYPMOD(bands, rows)		((bands) << 7 | (rows))
#define MINHASH_TYPMOD_BANDS(typmod)	((typmod) >> 7)
#define MINHASH_TYPMOD_ROWS(typmod)		((typmod) & 0x7F)

extern bool minhash_check_shape(int bands, int rows, struct Node *context);
extern bool minhash_make_is_valid(MinhashMake make);
extern Minhash *minhash_new(MinhashMake make);
extern Minhash *minhash_check(Minhash *sig);
extern Minhash *minhash_detoast(Datum value);
extern char *minhash_make_name(MinhashMake make);
extern void minhash_check_comparable(const Minhash *a, const Minhash *b);

#define PG_GETARG_MINHASH_P(n)	minhash_detoast(PG_GETARG_DATUM(n))
#define PG_RETURN_MINHASH_P(sig)	PG_RETURN_POINTER(sig)

static inline bool
minhash_same_make(MinhashMake a, MinhashMake b)
{
	return a.bands == b.bands && a.rows == b.rows && a.unit == b.unit &&
		a.width == b.width;
}

/* The operator that an index answers. */
extern Datum simhash_minhash_shares_band(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_MINHASH_TYPE_H */
