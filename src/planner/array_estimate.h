/*
 * Selectivity of distances of arrays, estimated from their common elements
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_ARRAY_ESTIMATE_H
#define SIMHASH_ARRAY_ESTIMATE_H

#include "nodes/pathnodes.h"

#include "planner/condition.h"

extern Selectivity array_estimate(PlannerInfo *root, const Condition *condition, bool of_join,
								  JoinType jointype, SpecialJoinInfo *sjinfo);
extern double array_count_elements(PlannerInfo *root, Node *node);
extern double array_comparison_cost(double a, double b);

#endif							/* SIMHASH_ARRAY_ESTIMATE_H */
