/*-------------------------------------------------------------------------
 *
 * join_path.h
 *		Path of a similarity join
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_PATH_H
#define SIMHASH_JOIN_PATH_H

#include "nodes/pathnodes.h"

/* join_hook.c */
extern void join_hook_init(void);

/* join_path.c */
extern void join_path_add(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *left,
						  RelOptInfo *right, JoinType jointype, JoinPathExtraData *extra);

#endif							/* SIMHASH_JOIN_PATH_H */
