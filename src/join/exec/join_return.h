/*-------------------------------------------------------------------------
 *
 * join_return.h
 *		Rows that a similarity join returns
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_RETURN_H
#define SIMHASH_JOIN_RETURN_H

#include "join/exec/join_state.h"

extern TupleTableSlot *join_return_match(SimHashJoinState *state);
extern TupleTableSlot *join_return_unmatched(SimHashJoinState *state);

#endif							/* SIMHASH_JOIN_RETURN_H */
