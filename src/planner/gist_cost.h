/*
 * Cost of scans of GiST indexes on fingerprints
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_GIST_COST_H
#define SIMHASH_GIST_COST_H

#include "nodes/pathnodes.h"

extern void gist_cost_init(RelOptInfo *rel);

#endif							/* SIMHASH_GIST_COST_H */
