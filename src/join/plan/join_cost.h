/*-------------------------------------------------------------------------
 *
 * join_cost.h
 *		Cost of a similarity join
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_COST_H
#define SIMHASH_JOIN_COST_H

#include "nodes/pathnodes.h"

#include "join/plan/join_clause.h"

extern void join_cost(PlannerInfo *root, JoinType jointype, const JoinClauses *clauses,
					  CustomPath *path);

#endif							/* SIMHASH_JOIN_COST_H */
