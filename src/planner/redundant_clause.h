/*
 * The redundant clause: a comparison that a call of simhash_within repeats
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_REDUNDANT_CLAUSE_H
#define SIMHASH_REDUNDANT_CLAUSE_H

#include "planner/comparison.h"
#include "planner/predicate.h"

typedef struct RedundantClause
{
	OpExpr	   *clause;			/* the redundant clause, or NULL if there is none */
	Comparison	comparison;		/* distance and bound of the redundant clause */
} RedundantClause;

extern void redundant_clause_find(PlannerInfo *root, const Predicate *predicate,
								  RedundantClause *redundant);
extern bool redundant_clause_has_statistics(PlannerInfo *root, const RedundantClause *redundant,
											int varRelid);

#endif							/* SIMHASH_REDUNDANT_CLAUSE_H */
