/*
 * Unicode normalization of a text, and the token class of each code point
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_NORMALIZE_H
#define SIMHASH_NORMALIZE_H

/*
 * The class of a code point for the tokenizer.  The numbers are stored in the generated
 * tables (unicode/generate.pl), so their order is fixed.
 */
typedef enum TokenClass
{
	TOKEN_SPACE,				/* white space */
	TOKEN_SYMBOL,				/* punctuation, symbols, controls */
	TOKEN_WORD,					/* a letter or digit; a run of them is a token */
	TOKEN_SINGLE,				/* a letter that is a token by itself: ideographs, kana,
								 * letters of scripts written without spaces */
	TOKEN_MARK					/* belongs to the character before it */
} TokenClass;

/*
 * A normalized code point and its token class, in 32 bits.
 */
#define NORMALIZED(codepoint, class)	((codepoint) | ((uint32) (class) << 24))
#define NORMALIZED_CODEPOINT(x)			((x) & 0x1FFFFF)
#define NORMALIZED_CLASS(x)				((TokenClass) ((x) >> 24))

/*
 * Maximum number of non-starters that are kept of a run, which are the first ones in
 * canonical order, as in the Stream-Safe Text Format (UAX #15, section 13).  For any text,
 * it bounds the memory, and the time for canonical ordering.  Marks are dropped by their
 * position in canonical order, not in the text, so that canonically equivalent texts stay
 * equal.
 */
#define NORMALIZE_MAX_MARKS		30

/*
 * Maximum length of the mapping of one code point, in code points.  The generator checks
 * that no mapping is longer.
 */
#define NORMALIZE_MAX_MAPPING	18

/* Maximum length of a run: the marks, and the starters before them. */
#define NORMALIZE_MAX_RUN		(NORMALIZE_MAX_MARKS + NORMALIZE_MAX_MAPPING)

/* Maximum number of pending code points: a run, and the U+0345 after the run. */
#define NORMALIZE_MAX_PENDING	(NORMALIZE_MAX_RUN + NORMALIZE_MAX_MARKS)

/* Capacity that normalize_push() needs for n code points. */
#define NORMALIZE_MAX_OUT(n)	((n) * NORMALIZE_MAX_MAPPING + NORMALIZE_MAX_PENDING)

/*
 * The end of the text so far, which later code points may still change.  It is either one
 * starter that maps to itself (`starter`), which is by far the most frequent case, or a
 * decomposed run in canonical order, but never both.
 */
typedef struct Normalizer
{
	uint32		starter;		/* as NORMALIZED, or NORMALIZE_NOTHING */
	int			nrun;
	int			nmarks;			/* number of non-starters in the run */
	int			niotas;			/* number of U+0345 after the run; this mark is last in
								 * canonical order */
	uint32		run[NORMALIZE_MAX_RUN];
	uint8		ccc[NORMALIZE_MAX_RUN];	/* combining classes, by position in run */
} Normalizer;

#define NORMALIZE_NOTHING		0xFFFFFFFF

extern void normalizer_init(Normalizer *norm);
extern size_t normalize_push(Normalizer *norm, const uint32 *codepoints, size_t n,
							 uint32 *out);
extern size_t normalize_flush(Normalizer *norm, uint32 *out);

#endif							/* SIMHASH_NORMALIZE_H */
