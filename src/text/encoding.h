/*
 * Conversion between the server's encoding, UTF-8 and code points
 *
 * Features are hashed as UTF-8, whatever the server's encoding.  In a SQL_ASCII database
 * the meaning of bytes is unknown, so they are hashed as they are.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_ENCODING_H
#define SIMHASH_ENCODING_H

#include "mb/pg_wchar.h"

#include "text/ascii.h"

/*
 * Convert a string from one encoding to another, one of which is UTF-8 and the other one
 * that of the server.
 *
 * Returns the given string if it needs no conversion, else a palloc'd string.  *length is
 * the length of the argument on entry, and that of the result on return, in bytes.  Raises
 * the conversion's error if a character has no equivalent.
 */
static inline char *
convert_string(char *string, size_t *length, int from, int to)
{
	char	   *converted;

	/* ASCII is the same in every encoding, even in MULE_INTERNAL, which PostgreSQL cannot convert */
	if (GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII ||
		ascii_length(string, *length) == *length)
		return string;
	converted = (char *) pg_do_encoding_conversion((unsigned char *) string, *length, from, to);
	if (converted != string)
		*length = strlen(converted);
	return converted;
}

#define server_to_utf8(string, length) \
	convert_string((string), (length), GetDatabaseEncoding(), PG_UTF8)
#define utf8_to_server(string, length) \
	convert_string((string), (length), PG_UTF8, GetDatabaseEncoding())

/*
 * UTF-8 is encoded and decoded here, not by utf8_to_unicode() and unicode_to_utf8().
 * These are not inline in PostgreSQL 15, and fingerprints of Chinese or Greek texts would
 * take 6 to 8 percent more instructions.
 */
#define MAX_UTF8_LENGTH		4

/*
 * Decode one code point of UTF-8, and advance *utf8 beyond it.  *utf8 must be before end.
 * The server has verified its strings.  If data are invalid nevertheless, each byte that
 * is not UTF-8 becomes a replacement character.
 */
static inline uint32
decode_utf8(const unsigned char **utf8, const unsigned char *end)
{
	const unsigned char *s = *utf8;
	int			length = pg_utf_mblen(s);

	if (length > end - s || !pg_utf8_islegal(s, length))
	{
		*utf8 = s + 1;
		return 0xFFFD;
	}
	*utf8 = s + length;
	switch (length)
	{
		case 1:
			return s[0];
		case 2:
			return ((s[0] & 0x1F) << 6) | (s[1] & 0x3F);
		case 3:
			return ((s[0] & 0x0F) << 12) | ((s[1] & 0x3F) << 6) | (s[2] & 0x3F);
		default:
			return ((s[0] & 0x07) << 18) | ((s[1] & 0x3F) << 12) |
				((s[2] & 0x3F) << 6) | (s[3] & 0x3F);
	}
}

/*
 * Encode a code point as UTF-8.  Returns the number of bytes, at most MAX_UTF8_LENGTH.
 */
static inline size_t
encode_utf8(uint32 cp, char *bytes)
{
	if (cp < 0x80)
	{
		bytes[0] = cp;
		return 1;
	}
	if (cp < 0x800)
	{
		bytes[0] = 0xC0 | (cp >> 6);
		bytes[1] = 0x80 | (cp & 0x3F);
		return 2;
	}
	if (cp < 0x10000)
	{
		bytes[0] = 0xE0 | (cp >> 12);
		bytes[1] = 0x80 | ((cp >> 6) & 0x3F);
		bytes[2] = 0x80 | (cp & 0x3F);
		return 3;
	}
	bytes[0] = 0xF0 | (cp >> 18);
	bytes[1] = 0x80 | ((cp >> 12) & 0x3F);
	bytes[2] = 0x80 | ((cp >> 6) & 0x3F);
	bytes[3] = 0x80 | (cp & 0x3F);
	return 4;
}

#endif							/* SIMHASH_ENCODING_H */
