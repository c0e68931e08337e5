/*
 * Functions of this folder that need no type of their own
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PLANNER_H
#define SIMHASH_PLANNER_H

#include "planner/condition.h"

/* array_estimate.c */
extern Selectivity array_estimate(PlannerInfo *root, const Condition *condition, bool of_join,
								  JoinType jointype, SpecialJoinInfo *sjinfo);
extern double array_count_elements(PlannerInfo *root, Node *node);
extern double array_comparison_cost(double a, double b);

/* gist_cost.c */
extern void gist_cost_init(RelOptInfo *rel);

/* privileges.c */
extern bool privileges_suffice(PlannerInfo *root, Node *expression);
extern bool privileges_suffice_for_search(PlannerInfo *root, const SimHashObjects *objects);

/* selectivity.c */
extern int	selectivity_nearest_radius(double nrows);
extern Selectivity selectivity_of_restriction(PlannerInfo *root, const Condition *condition,
											  int varRelid);
extern Selectivity selectivity_of_join(PlannerInfo *root, const Condition *condition,
									   JoinType jointype, SpecialJoinInfo *sjinfo);

/* rewrite/other_uses.c */
extern bool compared_elsewhere(PlannerInfo *root, RelOptInfo *rel, Index relid,
							   const Condition *condition);
extern bool is_foreign(PlannerInfo *root, Index relid);

/* rewrite/rewrite.c */
extern void rewrite_init(void);

#endif							/* SIMHASH_PLANNER_H */
