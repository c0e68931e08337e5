/*-------------------------------------------------------------------------
 *
 * query_keys.h
 *		Query keys of a scan of a multi-key index
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_QUERY_KEYS_H
#define SIMHASH_QUERY_KEYS_H

#include "access/skey.h"
#include "utils/relcache.h"

#include "index/opclass.h"

extern bool query_keys_read(Relation index, const Opclass *opclass, const ScanKeyData *keys,
							int nkeys, KeySet *sets, int *nsets);
extern const KeySet *query_keys_best(const KeySet *sets, int nsets);
extern void query_keys_limit(const KeySet *sets, int nsets, KeySet *query, bool *recheck);

#endif							/* SIMHASH_QUERY_KEYS_H */
