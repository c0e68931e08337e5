/*
 * What the planner's hooks call, and what installs them
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_HOOKS_H
#define SIMHASH_HOOKS_H

#include "nodes/pathnodes.h"

/* table_hook.c */
extern void table_hook_init(void);

/* gist_cost.c */
extern void gist_cost_init(RelOptInfo *rel);

/* rewrite/rewrite.c */
extern void rewrite_init(void);
extern void rewrite_relation(PlannerInfo *root, RelOptInfo *rel);
extern void rewrite_joins(PlannerInfo *root, RelOptInfo *rel);

#endif							/* SIMHASH_HOOKS_H */
