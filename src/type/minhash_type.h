/*
 * The type minhash: a signature, and its parameters
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_MINHASH_TYPE_H
#define SIMHASH_MINHASH_TYPE_H

#include "fmgr.h"

#include "digest/minhash.h"
#include "text/shingle.h"

/*
 * The unit of a set's features.  Stored signatures contain these numbers.
 */
typedef enum MinhashUnit
{
	MINHASH_OF_WORDS = 0,		/* shingles of words */
	MINHASH_OF_CHARS = 1,		/* shingles of characters */
	MINHASH_OF_FEATURES = 2,	/* texts, unchanged */
	MINHASH_OF_HASHES = 3		/* 64-bit numbers */
} MinhashUnit;

/*
 * The parameters of a signature.  Signatures with different parameters cannot be
 * compared.
 */
typedef struct MinhashParams
{
	uint16		bands;			/* 1 to MINHASH_MAX_BANDS */
	uint16		width;			/* width of shingles, in units; 0 if the features are not
								 * shingles */
	uint8		rows;			/* rows of a band, 1 to MINHASH_MAX_ROWS */
	uint8		unit;			/* a MinhashUnit */
} MinhashParams;

static inline MinhashParams
minhash_params(int bands, int rows, int unit, int width)
{
	return (MinhashParams) {.bands = bands,.rows = rows,.unit = unit,.width = width};
}

#define MINHASH_MAX_BANDS		1024
#define MINHASH_MAX_ROWS		MINIMA_MAX_ROWS
#define MINHASH_MAX_LENGTH		MINIMA_MAX	/* in minima; bands * rows must not exceed it */

/* Defaults of functions and type modifiers.  See docs/minhash.md for the reasons. */
#define MINHASH_DEFAULT_BANDS	18
#define MINHASH_DEFAULT_ROWS	7
#define MINHASH_DEFAULT_WORDS	3

/*
 * Return the default width, in units, of the shingles of signatures, of shingle_hashes() and
 * of comparisons of texts.  They have one default, since signatures estimate resemblance().
 */
static inline int
minhash_default_width(ShingleUnit unit)
{
	return unit == UNIT_WORD ? MINHASH_DEFAULT_WORDS : 8;
}

/*
 * A signature.  The minima of band i start at minima[i * rows].
 */
typedef struct Minhash
{
	int32		vl_len_;		/* varlena header; not to be accessed directly */
	MinhashParams params;
	uint8		version;		/* MINHASH_VERSION */
	uint8		unused;			/* zero */
	uint32		minima[FLEXIBLE_ARRAY_MEMBER];
} Minhash;

/* Increase this if the minima of the same features ever change. */
#define MINHASH_VERSION			1

#define MINHASH_SIZE(length)	(offsetof(Minhash, minima) + (length) * sizeof(uint32))

/*
 * Return the length of a signature, in minima.
 */
static inline int
minhash_length(const Minhash *sig)
{
	return sig->params.bands * sig->params.rows;
}

/*
 * Return the index key of a band, whose number is 0 to bands - 1.
 */
static inline uint64
minhash_band_key(const Minhash *sig, int band)
{
	return minima_band_key(sig->minima, band, sig->params.rows);
}

/*
 * The type modifier of some parameters: 11 bits for bands, 7 for rows, 9 for the width, 2
 * for the unit.  It is greater than 0.  Indexes store it, too.
 */
#define MINHASH_TYPMOD(bands, rows, unit, width) \
	((bands) << 18 | (rows) << 11 | (width) << 2 | (unit))

static inline int32
minhash_typmod(MinhashParams params)
{
	return MINHASH_TYPMOD(params.bands, params.rows, params.unit, params.width);
}

/*
 * Return the parameters of a type modifier.  They are invalid if no valid parameters have
 * this type modifier.
 */
static inline MinhashParams
minhash_params_of_typmod(int32 typmod)
{
	return minhash_params(typmod >> 18, (typmod >> 11) & 0x7F, typmod & 0x3,
						  (typmod >> 2) & 0x1FF);
}

StaticAssertDecl(MINHASH_MAX_BANDS < 1 << 11 && MINHASH_MAX_ROWS < 1 << 7 &&
				 SHINGLE_MAX_WIDTH < 1 << 9 && MINHASH_OF_HASHES < 1 << 2,
				 "a type modifier holds all parameters");

extern bool minhash_check_shape(int bands, int rows, struct Node *context);
extern bool minhash_params_are_valid(MinhashParams params);
extern Minhash *minhash_new(MinhashParams params);
extern Minhash *minhash_check(Minhash *sig);
extern Minhash *minhash_detoast(Datum value);
extern char *minhash_params_name(MinhashParams params);
extern void minhash_check_comparable(const Minhash *a, const Minhash *b);

#define PG_GETARG_MINHASH_P(n)	minhash_detoast(PG_GETARG_DATUM(n))
#define PG_RETURN_MINHASH_P(sig)	PG_RETURN_POINTER(sig)

/*
 * Return true if the parameters of two signatures are equal, so that the signatures can be
 * compared.
 */
static inline bool
minhash_same_params(MinhashParams a, MinhashParams b)
{
	return a.bands == b.bands && a.rows == b.rows && a.unit == b.unit &&
		a.width == b.width;
}

/* The function of the operator that an index supports. */
extern Datum simhash_minhash_shares_band(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_MINHASH_TYPE_H */
