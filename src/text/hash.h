/*-------------------------------------------------------------------------
 *
 * hash.h
 *		The 64-bit hash of a feature
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_HASH_H
#define SIMHASH_HASH_H

/* XXH3, 64 bits, seed 0.  The same bytes have the same hash everywhere. */
extern uint64 hash_feature(const char *bytes, size_t length);

/* XXH3 with a seed, for hashes that are not stored (salt.h). */
extern uint64 hash_seeded(const char *bytes, size_t length, uint64 seed);
extern bool hash_is_frozen(void);

#endif							/* SIMHASH_HASH_H */
