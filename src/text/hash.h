/*
 * The 64-bit hash of a feature
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_HASH_H
#define SIMHASH_HASH_H

/*
 * Return the hash of some bytes: XXH3, 64 bits, seed 0.  It is the same on all machines.
 */
extern uint64 hash_feature(const char *bytes, size_t length);

/*
 * Return the hash of the 8 bytes of a number, least significant first.  No two numbers have
 * the same hash.
 */
extern uint64 hash_number(uint64 number);

/*
 * Return the XXH3 hash of some bytes with a seed, for hashes that are not stored (salt.h).
 */
extern uint64 hash_seeded(const char *bytes, size_t length, uint64 seed);
extern bool hash_is_frozen(void);

#endif							/* SIMHASH_HASH_H */
