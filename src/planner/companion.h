/*-------------------------------------------------------------------------
 *
 * companion.h
 *		The companion clause: the comparison beside a call of simhash_within
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_COMPANION_H
#define SIMHASH_COMPANION_H

#include "planner/comparison.h"
#include "planner/predicate.h"

typedef struct Companion
{
	OpExpr	   *clause;			/* the companion clause, or NULL if there is none */
	Comparison	comparison;		/* distance and bound of the companion clause */
} Companion;

extern void companion_find(PlannerInfo *root, const Predicate *predicate, Companion *companion);
extern bool companion_has_statistics(PlannerInfo *root, const Companion *companion, int varRelid);

#endif							/* SIMHASH_COMPANION_H */
