/*-------------------------------------------------------------------------
 *
 * join_input.h
 *		Inputs of a similarity join
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_INPUT_H
#define SIMHASH_JOIN_INPUT_H

#include "join/exec/join_state.h"

extern void join_input_close(JoinInput *input);
extern void join_input_reset(SimHashJoinState *state, JoinInput *input, Size limit,
							 Size capacity);
extern void join_input_init(SimHashJoinState *state, JoinInput *input, Plan *plan,
							int first_column, Expr *key, List *equal, EState *estate, int eflags);
extern void join_input_read_right(SimHashJoinState *state);
extern TupleTableSlot *join_input_read_left(SimHashJoinState *state);

#endif							/* SIMHASH_JOIN_INPUT_H */
