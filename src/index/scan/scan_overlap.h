/*
 * Scans for rows ranked by overlap: rows with the most query keys come first
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SCAN_OVERLAP_H
#define SIMHASH_SCAN_OVERLAP_H

#include "index/opclass.h"
#include "index/scan/leaf_reader.h"

typedef struct OverlapScan OverlapScan;

extern OverlapScan *overlap_scan_create(MemoryContext context, LeafReader *reader,
										const KeySet *query);
extern bool overlap_scan_next(OverlapScan *scan, float8 *distance);
extern void overlap_scan_end(OverlapScan *scan);

#endif							/* SIMHASH_SCAN_OVERLAP_H */
