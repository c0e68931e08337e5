/*-------------------------------------------------------------------------
 *
 * fingerprint.h
 *		Features from SQL: their hashes and weights
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_FINGERPRINT_H
#define SIMHASH_FINGERPRINT_H

#include "digest/accumulate.h"

extern uint64 hash_server_string(char *string, size_t length);
extern uint64 hash_text(text *feature);
extern void add_feature(Accumulator *acc, uint64 hash, float8 weight);

#endif							/* SIMHASH_FINGERPRINT_H */
