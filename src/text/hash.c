/*
 * The 64-bit hash of a feature
 *
 * xxHash's headers are compiled in, so that no run-time library is needed.  This is the
 * one file in which the compiler expands them.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "port/pg_bswap.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "text/hash.h"

/*
 * Before 0.8.0, XXH3 was not final.  For example, 0.7.3 hashes one-letter words
 * differently.
 */
#if XXH_VERSION_NUMBER < 800
#error "simhash needs xxHash 0.8.0 or later"
#endif

/*
 * Known hashes of the longest input of each variant of XXH3.  The variant depends on the
 * length of the input.  The input is the alphabet, repeated.
 */
static const struct
{
	size_t		length;
	uint64		hash;
}			known_hashes[] = {
	{1, UINT64CONST(0xe6c632b61e964e1f)},
	{3, UINT64CONST(0x78af5f94892f3950)},
	{8, UINT64CONST(0x6f45a76842a96483)},
	{16, UINT64CONST(0x3d3ccac9af14d8a8)},
	{128, UINT64CONST(0x3e99edc6c76f21c6)},
	{240, UINT64CONST(0xea0e0f78188232ed)},
	{500, UINT64CONST(0x3b80dbf264b88499)}
};

#define KNOWN_MAX_LENGTH	500

/*
 * Return true if the compiled hash is the one from which stored fingerprints were made.  A
 * header's content may not match its version number, and a compiler may have a bug.
 */
bool
hash_is_frozen(void)
{
	char		bytes[KNOWN_MAX_LENGTH];

	for (int i = 0; i < KNOWN_MAX_LENGTH; i++)
		bytes[i] = 'a' + i % 26;
	for (size_t i = 0; i < lengthof(known_hashes); i++)
		if (hash_feature(bytes, known_hashes[i].length) != known_hashes[i].hash)
			return false;
	return true;
}

uint64
hash_feature(const char *bytes, size_t length)
{
	return XXH3_64bits(bytes, length);
}

uint64
hash_number(uint64 number)
{
#ifdef WORDS_BIGENDIAN
	number = pg_bswap64(number);
#endif
	return hash_feature((const char *) &number, sizeof(number));
}

uint64
hash_seeded(const char *bytes, size_t length, uint64 seed)
{
	return XXH3_64bits_withSeed(bytes, length, seed);
}
