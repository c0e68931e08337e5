/*-------------------------------------------------------------------------
 *
 * rewrite.h
 *		Rewrite comparisons of distances, so that an index can serve them
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_REWRITE_H
#define SIMHASH_REWRITE_H

#include "nodes/pathnodes.h"

extern void rewrite_init(void);
extern void rewrite_relation(PlannerInfo *root, RelOptInfo *rel);

#endif							/* SIMHASH_REWRITE_H */
