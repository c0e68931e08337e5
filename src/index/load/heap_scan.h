/*
 * Scan of a heap for the keys of its rows
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_HEAP_SCAN_H
#define SIMHASH_HEAP_SCAN_H

#include "access/tableam.h"
#include "nodes/execnodes.h"

/* Add a key of a row, or if is_placeholder, the key of the row's placeholder. */
typedef void (*AddKey) (void *arg, bool is_placeholder, uint64 key, const ItemPointerData *tid);

extern double heap_scan_keys(Relation heap, Relation index, IndexInfo *info, int32 params,
							 bool progress, TableScanDesc scan, AddKey add, void *arg,
							 double *nindexed);

#endif							/* SIMHASH_HEAP_SCAN_H */
