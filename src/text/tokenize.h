/*
 * Tokens of a normalized text, passed to the shingler
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_TOKENIZE_H
#define SIMHASH_TOKENIZE_H

#include "text/normalize.h"
#include "text/shingle.h"

/*
 * Maximum length of a token, in code points.  A longer token is cut into tokens of this
 * length, so that the memory used does not depend on the text.  It is part of the
 * definition of the fingerprint.
 */
#define TOKEN_MAX_LENGTH	1024

typedef enum TokenizerMode
{
	TOKENIZE_LETTERS,			/* tokens consist of letters and digits */
	TOKENIZE_SYMBOLS			/* each code point except white space is a token; used for
								 * a text without letters and digits */
} TokenizerMode;

typedef struct Tokenizer
{
	Shingler   *shingler;
	TokenizerMode mode;
	bool		open;			/* true inside a token */
	TokenClass	last;			/* class of the current or previous token; TOKEN_SPACE
								 * before the first token */
	int			length;			/* length of the current token, in code points */
} Tokenizer;

extern void tokenizer_init(Tokenizer *tokenizer, TokenizerMode mode,
						   Shingler *shingler);
extern void tokenize_normalized(Tokenizer *tokenizer, const uint32 *normalized,
								size_t n);
extern void tokenize_bytes(Tokenizer *tokenizer, const char *bytes, size_t n);
extern void tokenizer_finish(Tokenizer *tokenizer);

#endif							/* SIMHASH_TOKENIZE_H */
