/*
 * Clustering methods: single linkage and leaders
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_CLUSTERING_H
#define SIMHASH_CLUSTERING_H

#include "pairs/near_pairs.h"

/* Value for a row without a fingerprint, which is in no cluster. */
#define NO_ROW			PG_UINT32_MAX

/* A bit that no row number has.  It marks rows during a computation. */
#define ROW_MARK		((uint32) 1 << 31)

extern void cluster_equal(Members *members, uint32 *n, uint32 *parent, uint32 nrows);
extern void cluster_single(Members *members, uint32 n, int radius, uint32 *parent);
extern void cluster_roots(uint32 *parent, uint32 nrows);
extern void cluster_leader(Members *members, uint32 n, int radius, uint32 *parent,
						   uint32 nrows);

#endif							/* SIMHASH_CLUSTERING_H */
