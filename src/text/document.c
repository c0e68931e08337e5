/*
 * From a text in the server's encoding to its shingles
 *
 * The text passes through the stages piece by piece.  The memory used does not depend on
 * the length of the text.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"

#include "compat.h"
#include "text/ascii.h"
#include "text/encoding.h"
#include "text/locate.h"
#include "text/normalize.h"
#include "text/tokenize.h"

/* Code points that the normalizer processes in one call. */
#define BATCH_SIZE		128

/* Maximum bytes of ASCII, or of another encoding, between checks for interrupts. */
#define PIECE_SIZE		8192

typedef struct Document
{
	Normalizer	normalizer;
	Tokenizer	tokenizer;
} Document;

/*
 * Pass the pending code points to the tokenizer.  The caller must know that no later code
 * point can change them.
 */
static void
flush_normalizer(Document *document)
{
	uint32		out[NORMALIZE_MAX_PENDING];
	size_t		n = normalize_flush(&document->normalizer, out);

	tokenize_normalized(&document->tokenizer, out, n);
}

/*
 * Return the length of the ASCII text at s that needs no normalization.  It ends before
 * the last ASCII character, because a combining mark may follow that character.
 */
static size_t
plain_ascii_length(const char *s, const char *end)
{
	size_t		n = ascii_length(s, Min(end - s, PIECE_SIZE));

	return n > 0 ? n - 1 : 0;
}

/*
 * Process a piece of UTF-8.  It must consist of whole characters.  Checks for interrupts.
 */
static void
feed_utf8(Document *document, const char *utf8, size_t length)
{
	const char *end = utf8 + length;
	bool		take_ascii = document->tokenizer.mode == TOKENIZE_LETTERS;

	while (utf8 < end)
	{
		size_t		ascii = take_ascii ? plain_ascii_length(utf8, end) : 0;
		uint32		codepoints[BATCH_SIZE];
		uint32		out[NORMALIZE_MAX_OUT(BATCH_SIZE)];
		size_t		n = 0;

		CHECK_FOR_INTERRUPTS();

		if (ascii > 0)
		{
			flush_normalizer(document);
			tokenize_bytes(&document->tokenizer, utf8, ascii);
			utf8 += ascii;
		}
		while (utf8 < end && n < BATCH_SIZE)
		{
			const unsigned char *next = (const unsigned char *) utf8;

			codepoints[n++] = decode_utf8(&next, (const unsigned char *) end);
			utf8 = (const char *) next;
			if (take_ascii && end - utf8 > 1 &&
				!IS_HIGHBIT_SET(utf8[0]) && !IS_HIGHBIT_SET(utf8[1]))
				break;
		}
		n = normalize_push(&document->normalizer, codepoints, n, out);
		tokenize_normalized(&document->tokenizer, out, n);
	}
}

/*
 * Process a text of unknown encoding, in which bytes above 127 are letters.  Checks for
 * interrupts.
 */
static void
feed_sql_ascii(Document *document, const char *text, size_t length)
{
	for (size_t done = 0; done < length; done += PIECE_SIZE)
	{
		size_t		n = Min(length - done, PIECE_SIZE);

		CHECK_FOR_INTERRUPTS();
		if (document->tokenizer.mode == TOKENIZE_LETTERS)
			tokenize_bytes(&document->tokenizer, text + done, n);
		else
			/* bytes without letters are ASCII, which is valid UTF-8 */
			feed_utf8(document, text + done, n);
	}
}

/*
 * Process a text of any other server encoding by conversion of pieces.  Raises the
 * conversion's error if a character has no equivalent.
 */
static void
feed_converted(Document *document, const char *text, size_t length)
{
	while (length > 0)
	{
		size_t		n = Min(length, PIECE_SIZE);
		size_t		utf8_length;
		char	   *utf8;

		/* cut between characters; if data are invalid, the conversion raises the error */
		n = pg_mbcliplen(text, Min(length, INT_MAX), n);
		if (n == 0)
			n = Min(length, PIECE_SIZE);
		utf8_length = n;
		utf8 = server_to_utf8(unconstify(char *, text), &utf8_length);
		feed_utf8(document, utf8, utf8_length);
		if (utf8 != text)
			pfree(utf8);
		text += n;
		length -= n;
	}
}

/*
 * Read the text once.  Returns true if it has a token.
 */
static bool
shingle_document(const char *text, size_t length, int width, ShingleUnit unit,
				 TokenizerMode mode, ShingleConsumer consume, void *arg)
{
	Document	document;
	Shingler	shingler;

	shingler_init(&shingler, width, unit, consume, arg);
	tokenizer_init(&document.tokenizer, mode, &shingler);
	normalizer_init(&document.normalizer);

	if (GetDatabaseEncoding() == PG_UTF8)
		feed_utf8(&document, text, length);
	else if (GetDatabaseEncoding() == PG_SQL_ASCII)
		feed_sql_ascii(&document, text, length);
	else
		feed_converted(&document, text, length);

	flush_normalizer(&document);
	tokenizer_finish(&document.tokenizer);
	return shingler_finish(&shingler);
}

/*
 * Call the consumer with each shingle of a text, in order.  The shingles are in UTF-8.  If
 * the server's encoding is SQL_ASCII, bytes above 127 are unchanged.
 *
 * `text` has `length` bytes in the server's encoding.  width is 1 to SHINGLE_MAX_WIDTH, in
 * units.  Checks for interrupts.
 */
void
document_shingles(const char *text, size_t length, int width, ShingleUnit unit,
				  ShingleConsumer consume, void *arg)
{
	if (!shingle_document(text, length, width, unit, TOKENIZE_LETTERS, consume, arg))
		shingle_document(text, length, width, unit, TOKENIZE_SYMBOLS, consume, arg);
}

/*
 * Call the consumer with each shingle of an array of tokens.  The tokens are not
 * normalized.  `tokens` must be an array without NULLs (arguments.h).  Checks for interrupts.
 */
void
token_shingles(ArrayType *tokens, int width, ShingleConsumer consume, void *arg)
{
	ArrayIterator iterator = array_create_iterator(tokens, 0, NULL);
	Shingler	shingler;
	Datum		token;
	bool		isnull;

	shingler_init(&shingler, width, UNIT_WORD, consume, arg);
	while (array_iterate(iterator, &token, &isnull))
	{
		struct varlena *packed = PG_DETOAST_DATUM_PACKED(token);
		size_t		length = VARSIZE_ANY_EXHDR(packed);
		char	   *utf8 = server_to_utf8(VARDATA_ANY(packed), &length);

		CHECK_FOR_INTERRUPTS();
		shingler_begin_unit(&shingler);
		shingler_append(&shingler, utf8, length);
		shingler_end_unit(&shingler);
		if (utf8 != VARDATA_ANY(packed))
			pfree(utf8);
	}
	array_free_iterator(iterator);
	(void) shingler_finish(&shingler);
}
