/*-------------------------------------------------------------------------
 *
 * join_plan_partitions.h
 *		Plans the partitions of a join whose inputs do not fit into memory
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_PLAN_PARTITIONS_H
#define SIMHASH_JOIN_PLAN_PARTITIONS_H

#include "join/exec/join_state.h"

extern void join_plan_partitions(SimHashJoinState *state);

#endif							/* SIMHASH_JOIN_PLAN_PARTITIONS_H */
