/*
 * The fingerprint type
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_DIGEST_SIMHASH_H
#define SIMHASH_DIGEST_SIMHASH_H

typedef uint64 SimHash;

#define SIMHASH_BITS		64

#endif							/* SIMHASH_DIGEST_SIMHASH_H */
