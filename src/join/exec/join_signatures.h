/*-------------------------------------------------------------------------
 *
 * join_signatures.h
 *		Signatures of the rows of a join, and the keys of their bands
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_SIGNATURES_H
#define SIMHASH_JOIN_SIGNATURES_H

#include "join/exec/join_state.h"

extern void join_signatures_init(SimHashJoinState *state, JoinInput *input, const Expr *key,
								 EState *estate);
extern void join_signatures_set_keys(SimHashJoinState *state, JoinInput *input,
									 Minhash *sig, JoinEntry *entry);
extern MinimalTuple join_signatures_add(JoinInput *input, TupleTableSlot *slot);
extern bool join_signatures_share_band(SimHashJoinState *state);

#endif							/* SIMHASH_JOIN_SIGNATURES_H */
