/*
 * Indexes that can serve a comparison, and other uses of a distance
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_INDEXABLE_H
#define SIMHASH_INDEXABLE_H

#include "nodes/pathnodes.h"

#include "planner/comparison.h"

extern bool indexable_by_relation(PlannerInfo *root, RelOptInfo *rel,
								  const SimHashObjects *objects,
								  Node *a, Node *b, Node *radius);
extern bool indexable_has_custom_opclass(RelOptInfo *rel);
extern bool compared_elsewhere(PlannerInfo *root, RelOptInfo *rel,
							   const Comparison *comparison);

#endif							/* SIMHASH_INDEXABLE_H */
