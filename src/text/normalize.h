/*-------------------------------------------------------------------------
 *
 * normalize.h
 *		Unicode normalisation of a text, and the token class of each code point
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_NORMALIZE_H
#define SIMHASH_NORMALIZE_H

/*
 * What a code point is to the tokeniser.  The numbers stand in the generated
 * tables (unicode/generate.pl), so their order is fixed.
 */
typedef enum TokenClass
{
	TOKEN_SPACE,				/* white space */
	TOKEN_SYMBOL,				/* punctuation, symbols, controls */
	TOKEN_WORD,					/* a letter or digit: runs of them are a token */
	TOKEN_SINGLE,				/* a letter that is a token by itself: ideographs,
								 * kana, the scripts written without spaces */
	TOKEN_MARK					/* belongs to what precedes it */
} TokenClass;

/*
 * A normalised code point together with its class, in 32 bits.
 */
#define NORMALIZED(codepoint, class)	((codepoint) | ((uint32) (class) << 24))
#define NORMALIZED_CODEPOINT(x)			((x) & 0x1FFFFF)
#define NORMALIZED_CLASS(x)				((TokenClass) ((x) >> 24))

/*
 * Of a run of non-starters, in canonical order, the first ones are kept: so many
 * as the Stream-Safe Text Format allows (UAX #15, section 13).  It bounds memory,
 * and the time that canonical ordering takes, whatever the text.  Marks are
 * dropped by their place in the canonical order, not in the text, so that
 * canonically equivalent texts stay equal.
 */
#define NORMALIZE_MAX_MARKS		30

/* No mapping of one code point is longer than this; the generator checks. */
#define NORMALIZE_MAX_MAPPING	18

/* The longest run: the marks, and the starters before them. */
#define NORMALIZE_MAX_RUN		(NORMALIZE_MAX_MARKS + NORMALIZE_MAX_MAPPING)

/* What is held back at most: a run, and the U+0345 behind it. */
#define NORMALIZE_MAX_PENDING	(NORMALIZE_MAX_RUN + NORMALIZE_MAX_MARKS)

/* Room that normalize_push needs for n code points. */
#define NORMALIZE_MAX_OUT(n)	((n) * NORMALIZE_MAX_MAPPING + NORMALIZE_MAX_PENDING)

/*
 * The end of the text seen so far, which what follows may still change.
 * Either one starter that stands for itself (starter), by far the most frequent
 * case, or a decomposed run in canonical order.  Never both.
 */
typedef struct Normalizer
{
	uint32		starter;		/* NORMALIZED starter, or NORMALIZE_NOTHING */
	int			nrun;
	int			nmarks;			/* non-starters in run */
	int			niotas;			/* U+0345 behind them: the mark that comes last in
								 * canonical order */
	uint32		run[NORMALIZE_MAX_RUN];
	uint8		ccc[NORMALIZE_MAX_RUN]; /* their combining classes */
} Normalizer;

#define NORMALIZE_NOTHING		0xFFFFFFFF

extern void normalizer_init(Normalizer *norm);
extern size_t normalize_push(Normalizer *norm, const uint32 *codepoints, size_t n,
							 uint32 *out);
extern size_t normalize_flush(Normalizer *norm, uint32 *out);

#endif							/* SIMHASH_NORMALIZE_H */
