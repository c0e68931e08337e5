/*
 * Rewrite comparisons of distances to calls that the planner understands
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_REWRITE_H
#define SIMHASH_REWRITE_H

#include "nodes/pathnodes.h"

extern void rewrite_init(void);
extern void rewrite_relation(PlannerInfo *root, RelOptInfo *rel);
extern void rewrite_joins(PlannerInfo *root, RelOptInfo *rel);

#endif							/* SIMHASH_REWRITE_H */
