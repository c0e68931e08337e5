/*-------------------------------------------------------------------------
 *
 * linkage.h
 *		Clusters of fingerprints: what belongs together
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_LINKAGE_H
#define SIMHASH_LINKAGE_H

#include "corpus/similarity_join.h"

/* The cluster of a row without a fingerprint. */
#define NO_ROW			PG_UINT32_MAX

/* A bit that no row's number has, to mark some. */
#define ROW_MARK		((uint32) 1 << 31)

extern void link_equal(Members *members, uint32 *n, uint32 *parent,
					   uint32 nrows);
extern void link_single(Members *members, uint32 n, int radius, uint32 *parent);
extern void link_roots(uint32 *parent, uint32 nrows);
extern void link_leader(Members *members, uint32 n, int radius, uint32 *parent,
						uint32 nrows);

#endif							/* SIMHASH_LINKAGE_H */
