/*
 * Selectivity of distances of arrays, estimated from their common elements
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_ELEMENTS_H
#define SIMHASH_ELEMENTS_H

#include "nodes/pathnodes.h"

#include "planner/predicate.h"

extern Selectivity elements_selectivity(PlannerInfo *root, const Predicate *predicate);
extern Selectivity elements_join_selectivity(PlannerInfo *root, const Predicate *predicate,
											 JoinType jointype, SpecialJoinInfo *sjinfo);
extern double elements_count(PlannerInfo *root, Node *node);
extern double elements_comparison_cost(double a, double b);

#endif							/* SIMHASH_ELEMENTS_H */
