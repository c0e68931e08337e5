/*
 * Selectivity of conditions on distances
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SELECTIVITY_H
#define SIMHASH_SELECTIVITY_H

#include "nodes/pathnodes.h"

#include "planner/condition.h"

extern int	selectivity_nearest_radius(double nrows);
extern Selectivity selectivity_of_restriction(PlannerInfo *root,
											  const Condition *condition,
											  int varRelid);
extern Selectivity selectivity_of_join(PlannerInfo *root,
									   const Condition *condition,
									   JoinType jointype,
									   SpecialJoinInfo *sjinfo);

#endif							/* SIMHASH_SELECTIVITY_H */
