/*-------------------------------------------------------------------------
 *
 * encoding.h
 *		Between the server's encoding and UTF-8
 *
 * Features are hashed as UTF-8, whatever the server's encoding.  In a
 * SQL_ASCII database nobody knows what the bytes mean; they are taken as they
 * are.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ENCODING_H
#define SIMHASH_ENCODING_H

#include "mb/pg_wchar.h"

#include "text/ascii.h"

/*
 * Whether a string is stored as it is hashed.  ASCII is ASCII in every server
 * encoding, even in those that PostgreSQL cannot convert (MULE_INTERNAL).
 */
static inline bool
needs_no_conversion(const char *string, size_t length)
{
	return GetDatabaseEncoding() == PG_UTF8 ||
		GetDatabaseEncoding() == PG_SQL_ASCII ||
		ascii_length(string, length) == length;
}

/*
 * Both return the string given, where nothing needs to be converted, or a
 * palloc'd one; *length is that of the argument and then of the result.
 * Where a character has no equivalent, the error is the conversion's own.
 */
static inline char *
server_to_utf8(char *string, size_t *length)
{
	char	   *utf8;

	if (needs_no_conversion(string, *length))
		return string;
	utf8 = (char *) pg_do_encoding_conversion((unsigned char *) string, *length,
											  GetDatabaseEncoding(), PG_UTF8);
	if (utf8 != string)
		*length = strlen(utf8);
	return utf8;
}

static inline char *
utf8_to_server(char *utf8, size_t *length)
{
	char	   *string;

	if (needs_no_conversion(utf8, *length))
		return utf8;
	string = (char *) pg_do_encoding_conversion((unsigned char *) utf8, *length,
												PG_UTF8, GetDatabaseEncoding());
	if (string != utf8)
		*length = strlen(string);
	return string;
}

#endif							/* SIMHASH_ENCODING_H */
