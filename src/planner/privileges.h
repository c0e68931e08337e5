/*
 * Check which functions the user may execute
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PRIVILEGES_H
#define SIMHASH_PRIVILEGES_H

#include "planner/objects.h"

extern bool privileges_suffice(PlannerInfo *root, Node *expression);
extern bool privileges_suffice_for_search(PlannerInfo *root, const SimHashObjects *objects);

#endif							/* SIMHASH_PRIVILEGES_H */
