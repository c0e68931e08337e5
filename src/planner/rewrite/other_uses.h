/*
 * Other objects that contain a distance, and foreign tables
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_OTHER_USES_H
#define SIMHASH_OTHER_USES_H

#include "nodes/pathnodes.h"

#include "planner/condition.h"

extern bool compared_elsewhere(PlannerInfo *root, RelOptInfo *rel, Index relid,
							   const Condition *condition);
extern bool is_foreign(PlannerInfo *root, Index relid);

#endif							/* SIMHASH_OTHER_USES_H */
