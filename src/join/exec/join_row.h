/*-------------------------------------------------------------------------
 *
 * join_row.h
 *		The joined row
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_ROW_H
#define SIMHASH_JOIN_ROW_H

#include "join/exec/join_state.h"

extern TupleTableSlot *join_row_clear(SimHashJoinState *state);
extern void join_row_put(JoinInput *input, TupleTableSlot *slot, TupleTableSlot *row);
extern void join_row_put_tuple(JoinInput *input, TupleLocation location, TupleTableSlot *row);
extern TupleTableSlot *join_row_make(SimHashJoinState *state, TupleLocation left,
									 TupleLocation right);
extern TupleTableSlot *join_row_project(SimHashJoinState *state, TupleTableSlot *row);

#endif							/* SIMHASH_JOIN_ROW_H */
