/*
 * Positions of a text's shingles
 *
 * The text passes through the stages of document.c one character at a time.  Each code
 * point is accompanied by the passage of the text from which it was made.  This is for the
 * inspection of few documents.  Fingerprints are made without passages, several times as
 * fast.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"

#include "text/encoding.h"
#include "text/locate.h"
#include "text/normalize.h"
#include "text/tokenize.h"

typedef struct Locator
{
	Normalizer	normalizer;
	Tokenizer	tokenizer;
	Shingler	shingler;
	LocatedConsumer consume;
	void	   *arg;
	Passage		pending;		/* passage of the code points that are pending in the
								 * normalizer */
	Passage		current;		/* passage of the code point that was passed to the
								 * tokenizer last */
	uint64		nlocated;		/* number of units with a recorded passage */
	Passage		unit[SHINGLE_MAX_WIDTH];	/* ring with the passages of the last units */
} Locator;

/*
 * Return the passage of a unit, given by its number.  It must be one of the last
 * SHINGLE_MAX_WIDTH units.
 */
static inline Passage *
unit_passage(Locator *locator, uint64 number)
{
	return &locator->unit[number % SHINGLE_MAX_WIDTH];
}

static void
locate_unit(Locator *locator, Passage passage)
{
	*unit_passage(locator, locator->nlocated++) = passage;
}

/*
 * Record the passage of the space between two tokens.  It is the gap between the tokens,
 * and is empty if both come from one character.
 */
static void
locate_joint(Locator *locator)
{
	TextPosition left = unit_passage(locator, locator->nlocated - 1)->end;
	TextPosition right = locator->current.start;

	locate_unit(locator, left.byte < right.byte ? (Passage) {left, right} :
				(Passage) {right, left});
}

/*
 * Record the passages of the characters that the tokenizer has added as units: the space
 * between tokens, if it was added, then the current character.  If only_joint is true,
 * only the space was added.
 */
static void
locate_chars(Locator *locator, bool only_joint)
{
	uint64		added = locator->shingler.nunits - locator->nlocated;

	if (added == 2 || only_joint)
		locate_joint(locator);
	if (added > 0 && !only_joint)
		locate_unit(locator, locator->current);
}

/*
 * Record the passage of the token that the tokenizer has begun or continued.
 */
static inline void
locate_word(Locator *locator)
{
	uint64		number = locator->shingler.nunits;

	if (!locator->tokenizer.open)
		return;
	if (locator->nlocated == number)
		locate_unit(locator, locator->current);
	else
		unit_passage(locator, number)->end = locator->current.end;
}

/*
 * Call the consumer with a complete shingle and its passage.  A ShingleConsumer.
 */
static void
take_shingle(void *arg, const char *shingle, size_t length)
{
	Locator    *locator = arg;
	uint64		n = locator->shingler.nunits;
	Passage		passage;

	if (locator->shingler.unit == UNIT_CHAR)
		locate_chars(locator, shingle[length - 1] == ' ');
	passage.start = unit_passage(locator, n - Min(n, (uint64) locator->shingler.width))->start;
	passage.end = unit_passage(locator, n - 1)->end;
	locator->consume(locator->arg, shingle, length, passage);
}

/*
 * Record the passages of the units that the tokenizer has added or continued.
 */
static inline void
tokenizer_has_taken(Locator *locator)
{
	if (locator->shingler.unit == UNIT_CHAR)
		locate_chars(locator, false);
	else
		locate_word(locator);
}

/*
 * Pass n normalized code points to the tokenizer.  `passage` is the passage from which
 * they were made.
 */
static inline void
feed_normalized(Locator *locator, const uint32 *normalized, size_t n, Passage passage)
{
	locator->current = passage;
	for (size_t i = 0; i < n; i++)
	{
		tokenize_normalized(&locator->tokenizer, &normalized[i], 1);
		tokenizer_has_taken(locator);
	}
}

/*
 * Normalize a code point.  If the output begins with the pending code points as they would
 * be at the end of the text, the new code point has not changed them, and the rest of the
 * output was made from it.  Otherwise, the new code point has combined with them.
 */
static inline void
feed_codepoint(Locator *locator, uint32 codepoint, Passage here)
{
	Normalizer	ended = locator->normalizer;
	uint32		pending[NORMALIZE_MAX_PENDING];
	size_t		npending = normalize_flush(&ended, pending);
	uint32		out[NORMALIZE_MAX_OUT(1)];
	size_t		n = normalize_push(&locator->normalizer, &codepoint, 1, out);

	if (n < npending || memcmp(out, pending, npending * sizeof(uint32)) != 0)
	{
		locator->pending.end = here.end;
		here = locator->pending;
		npending = 0;
	}
	feed_normalized(locator, out, npending, locator->pending);
	feed_normalized(locator, out + npending, n - npending, here);
	locator->pending = here;
}

/*
 * Process a character of `length` bytes in the server's encoding.  UTF-8 may have more
 * than one code point for it.
 */
static inline void
feed_char(Locator *locator, char *character, size_t length, Passage here)
{
	char	   *utf8 = server_to_utf8(character, &length);
	const unsigned char *next = (unsigned char *) utf8;
	const unsigned char *end = next + length;

	while (next < end)
		feed_codepoint(locator, decode_utf8(&next, end), here);
	if (utf8 != character)
		pfree(utf8);
}

static void
feed_text(Locator *locator, const char *text, size_t length)
{
	bool		letters_of_bytes = GetDatabaseEncoding() == PG_SQL_ASCII &&
		locator->tokenizer.mode == TOKENIZE_LETTERS;
	Passage		here = {TEXT_BEGIN, TEXT_BEGIN};

	for (; here.start.byte < length; here.start = here.end)
	{
		char	   *character = unconstify(char *, text) + here.start.byte;

		CHECK_FOR_INTERRUPTS();
		next_character(text, length, &here.end);
		if (letters_of_bytes)
		{
			/* a byte above 127 is a letter */
			locator->current = here;
			tokenize_bytes(&locator->tokenizer, character, 1);
			tokenizer_has_taken(locator);
		}
		else
			feed_char(locator, character, here.end.byte - here.start.byte, here);
	}
}

/*
 * Read the text once.  Returns true if it has a token.
 */
static bool
locate_tokens(Locator *locator, const char *text, size_t length, int width,
			  ShingleUnit unit, TokenizerMode mode)
{
	uint32		out[NORMALIZE_MAX_PENDING];
	size_t		n;

	shingler_init(&locator->shingler, width, unit, take_shingle, locator);
	tokenizer_init(&locator->tokenizer, mode, &locator->shingler);
	normalizer_init(&locator->normalizer);
	locator->pending = (Passage) {TEXT_BEGIN, TEXT_BEGIN};
	locator->nlocated = 0;

	feed_text(locator, text, length);
	n = normalize_flush(&locator->normalizer, out);
	feed_normalized(locator, out, n, locator->pending);
	tokenizer_finish(&locator->tokenizer);
	return shingler_finish(&locator->shingler);
}

/*
 * Call the consumer with each shingle of a text, in order, and with the passage of the
 * shingle.  The passage is from the first character of the first unit to the last
 * character of the last unit.  The arguments and the shingles are those of
 * document_shingles().  Checks for interrupts.
 */
void
locate_shingles(const char *text, size_t length, int width, ShingleUnit unit,
				LocatedConsumer consume, void *arg)
{
	Locator    *locator = palloc(sizeof(Locator));

	locator->consume = consume;
	locator->arg = arg;
	if (!locate_tokens(locator, text, length, width, unit, TOKENIZE_LETTERS))
		locate_tokens(locator, text, length, width, unit, TOKENIZE_SYMBOLS);
	pfree(locator);
}
