/*
 * Scans for rows that contain any of n keys, or at least min_match of them
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SCAN_KEYS_H
#define SIMHASH_SCAN_KEYS_H

#include "index/opclass.h"
#include "index/scan/leaf_reader.h"

typedef struct KeysScan KeysScan;

extern KeysScan *keys_scan_create(MemoryContext context, LeafReader *reader,
								  const KeySet *query);
extern void keys_scan_return_once(KeysScan *scan, bool may_defer);
extern bool keys_scan_next(KeysScan *scan);
extern void keys_scan_end(KeysScan *scan);

#endif							/* SIMHASH_SCAN_KEYS_H */
