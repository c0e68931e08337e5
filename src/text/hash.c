/*-------------------------------------------------------------------------
 *
 * hash.c
 *		The 64-bit hash of a feature
 *
 * The xxHash headers, compiled in: no run-time library, and one place where
 * the compiler expands them.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifdef FRONTEND
#include "postgres_fe.h"
#else
#include "postgres.h"
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "text/hash.h"

uint64
hash_feature(const char *bytes, size_t length)
{
	return XXH3_64bits(bytes, length);
}
