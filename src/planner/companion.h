/*-------------------------------------------------------------------------
 *
 * companion.h
 *		The comparison that stands beside simhash_within
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BESIDE_H
#define SIMHASH_BESIDE_H

#include "planner/predicate.h"
#include "planner/rewrite/comparison.h"

typedef struct Beside
{
	OpExpr	   *clause;			/* NULL: none */
	Comparison	comparison;		/* what it says */
} Beside;

extern void beside_init(void);
extern void beside_find(PlannerInfo *root, const Predicate *predicate, Beside *beside);
extern bool beside_has_statistics(PlannerInfo *root, const Beside *beside, int varRelid);

#endif							/* SIMHASH_BESIDE_H */
