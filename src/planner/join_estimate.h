/*-------------------------------------------------------------------------
 *
 * join_estimate.h
 *		Selectivity of comparisons of a distance between two relations
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_ESTIMATE_H
#define SIMHASH_JOIN_ESTIMATE_H

#include "nodes/pathnodes.h"

extern void join_estimate_clauses(PlannerInfo *root, RelOptInfo *rel);

#endif							/* SIMHASH_JOIN_ESTIMATE_H */
