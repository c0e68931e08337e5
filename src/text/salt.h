/*
 * Hashing that is unpredictable outside this process
 *
 * These hashes are for hash tables of users' data.  If the hash function were known, texts
 * could be crafted whose shingles all fall into one slot.  Nothing that is stored or shown
 * may depend on these hashes.  Fingerprints are made with hash.h.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SALT_H
#define SIMHASH_SALT_H

#include "text/hash.h"

#define SALT_NUMBERS		3

/* Random odd numbers of this process; zero until salt_init() has been called. */
extern uint64 process_salt[SALT_NUMBERS];

extern void salt_init(void);

/*
 * Return the upper half of the product of two numbers, XORed with the lower half.
 */
static inline uint64
fold_product(uint64 a, uint64 b)
{
#ifdef HAVE_INT128
	uint128		product = (uint128) a * b;

	return (uint64) (product >> 64) ^ (uint64) product;
#else
	uint64		low = (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
	uint64		middle = (a >> 32) * (b & 0xFFFFFFFF) + (low >> 32);
	uint64		middle2 = (a & 0xFFFFFFFF) * (b >> 32) + (middle & 0xFFFFFFFF);
	uint64		high = (a >> 32) * (b >> 32) + (middle >> 32) + (middle2 >> 32);

	return high ^ ((middle2 << 32) | (low & 0xFFFFFFFF));
#endif
}

/*
 * Return a hash of a 64-bit hash and of the salt of this process.
 */
static inline uint64
salted_hash64(uint64 hash)
{
	return fold_product(hash ^ process_salt[0], process_salt[1]) * process_salt[2];
}

/*
 * Return the salted hash of a string.  For short strings, the steps of XXH3 can be
 * inverted, whatever the seed is.  So the XXH3 hash is hashed again by salted_hash64().
 */
static inline uint64
salted_hash_bytes(const char *bytes, size_t length)
{
	return salted_hash64(hash_seeded(bytes, length, process_salt[0]));
}

#endif							/* SIMHASH_SALT_H */
