/*
 * Tokens of a normalized text, passed to the shingler
 *
 * A token is a maximal run of letters, marks and digits.  An ideograph, a kana, and a
 * letter of a script written without spaces is a token by itself, with the marks that
 * follow it.  A mark that follows no letter belongs to what precedes it, so it is no
 * token.
 *
 * Shingles of words have the tokens as their units.  Shingles of characters have the code
 * points of the tokens, joined by single spaces, as their units.  Ideographs are joined by
 * spaces, too.  So a shingle spans as much of a Chinese text as of Latin words within it
 * (docs/evaluation.md), and a line break within a Chinese text changes nothing.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "text/ascii.h"
#include "text/encoding.h"
#include "text/tokenize.h"

/*
 * Initialize a tokenizer for a text.
 */
void
tokenizer_init(Tokenizer *tokenizer, TokenizerMode mode, Shingler *shingler)
{
	tokenizer->shingler = shingler;
	tokenizer->mode = mode;
	tokenizer->open = false;
	tokenizer->last = TOKEN_SPACE;
	tokenizer->length = 0;
}

/*
 * Return true if the units of shingles are characters.
 */
static inline bool
by_char(const Tokenizer *tokenizer)
{
	return tokenizer->shingler->unit == UNIT_CHAR;
}

/*
 * End the current token, if there is one.  Called at a separator, at the beginning of the
 * next token, and at the end of the text.
 */
static inline void
end_token(Tokenizer *tokenizer)
{
	if (!tokenizer->open)
		return;
	tokenizer->open = false;
	if (!by_char(tokenizer))
		shingler_end_unit(tokenizer->shingler);
}

/*
 * Add a unit of n bytes to the shingler.
 */
static void
append_unit(Tokenizer *tokenizer, const char *bytes, size_t n)
{
	shingler_begin_unit(tokenizer->shingler);
	shingler_append(tokenizer->shingler, bytes, n);
	shingler_end_unit(tokenizer->shingler);
}

/*
 * Begin a token of a class.  Ends the current token first, if there is one.
 */
static inline void
begin_token(Tokenizer *tokenizer, TokenClass class)
{
	end_token(tokenizer);
	if (!by_char(tokenizer))
		shingler_begin_unit(tokenizer->shingler);
	else if (tokenizer->last != TOKEN_SPACE)
		append_unit(tokenizer, " ", 1);
	tokenizer->open = true;
	tokenizer->last = class;
	tokenizer->length = 0;
}

/*
 * Append one code point, n bytes of UTF-8, to the current token.
 */
static inline void
append_codepoint(Tokenizer *tokenizer, const char *bytes, size_t n)
{
	if (by_char(tokenizer))
	{
		append_unit(tokenizer, bytes, n);
		return;
	}
	if (unlikely(tokenizer->length == TOKEN_MAX_LENGTH))
		begin_token(tokenizer, tokenizer->last);
	shingler_append(tokenizer->shingler, bytes, n);
	tokenizer->length++;
}

/*
 * Tokenize the next code points of the text, as normalize_push() writes them.
 */
void
tokenize_normalized(Tokenizer *tokenizer, const uint32 *normalized, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		TokenClass	class = NORMALIZED_CLASS(normalized[i]);
		char		bytes[MAX_UTF8_LENGTH];

		if (tokenizer->mode == TOKENIZE_SYMBOLS && class != TOKEN_SPACE)
			class = TOKEN_SINGLE;

		if (class == TOKEN_SPACE || class == TOKEN_SYMBOL)
		{
			end_token(tokenizer);
			continue;
		}
		if (class == TOKEN_MARK && !tokenizer->open)
			continue;
		if (class == TOKEN_SINGLE ||
			(class == TOKEN_WORD &&
			 !(tokenizer->open && tokenizer->last == TOKEN_WORD)))
			begin_token(tokenizer, class);
		append_codepoint(tokenizer, bytes,
						 encode_utf8(NORMALIZED_CODEPOINT(normalized[i]), bytes));
	}
}

/*
 * Append n letters of one byte each to the current token.
 */
static inline void
append_letters(Tokenizer *tokenizer, const char *bytes, size_t n)
{
	if (by_char(tokenizer))
	{
		for (size_t i = 0; i < n; i++)
			append_unit(tokenizer, bytes + i, 1);
		return;
	}
	if (unlikely(tokenizer->length + n > TOKEN_MAX_LENGTH))
	{
		for (size_t i = 0; i < n; i++)
			append_codepoint(tokenizer, bytes + i, 1);
		return;
	}
	shingler_append(tokenizer->shingler, bytes, n);
	tokenizer->length += n;
}

/*
 * Tokenize a block of n bytes, each of which is a character.
 */
static inline void
tokenize_block(Tokenizer *tokenizer, const AsciiBlock *block, int n)
{
	uint64		alnum = block->alnum;
	int			at = 0;

	while (at < n)
	{
		if (alnum & 1)
		{
			/* the length of a run of letters; ~alnum is zero if all are letters */
			int			run = ~alnum ? pg_rightmost_one_pos64(~alnum) : n;

			if (!(tokenizer->open && tokenizer->last == TOKEN_WORD))
				begin_token(tokenizer, TOKEN_WORD);
			append_letters(tokenizer, block->lower + at, run);
			at += run;
			if (at == n)
				break;
			alnum >>= run;
		}
		end_token(tokenizer);
		if (alnum == 0)
			break;
		at += pg_rightmost_one_pos64(alnum);
		alnum >>= pg_rightmost_one_pos64(alnum);
	}
}

/*
 * Tokenize the next n bytes of the text, each of which is a character.  The result is that
 * of tokenize_normalized().  Use it for ASCII that needs no normalization, and for
 * SQL_ASCII, where bytes above 127 are letters.  The mode must be TOKENIZE_LETTERS.
 */
void
tokenize_bytes(Tokenizer *tokenizer, const char *bytes, size_t n)
{
	for (size_t done = 0; done < n; done += ASCII_BLOCK)
	{
		size_t		length = Min(n - done, ASCII_BLOCK);
		AsciiBlock	block;

		ascii_classify(bytes + done, length, &block);
		tokenize_block(tokenizer, &block, length);
	}
}

/*
 * End the text.
 */
void
tokenizer_finish(Tokenizer *tokenizer)
{
	end_token(tokenizer);
}
