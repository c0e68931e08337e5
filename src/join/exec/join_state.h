/*
 * State of a similarity join, and the functions that work on it
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_JOIN_STATE_H
#define SIMHASH_JOIN_STATE_H

#include "nodes/execnodes.h"
#include "nodes/extensible.h"

#include "join/match/join_methods.h"
#include "join/plan/join_node.h"
#include "join/store/pending.h"

/* Work of the next call. */
typedef enum JoinPhase
{
	BEGIN_JOIN,
	READ_RIGHT,					/* read the right input */
	RETURN_KEPT,				/* return rows that a parallel join has kept */
	READ_LEFT,					/* read a chunk of the left input, or all of it */
	NEXT_LEFT_CHUNK,
	NEXT_RIGHT_CHUNK,
	RETURN_MATCHES,
	RETURN_PENDING,				/* return the last pending pairs */
	RETURN_UNMATCHED,			/* return left rows without a match */
	JOIN_DONE
} JoinPhase;

typedef struct JoinParallel JoinParallel;

/* An input of the join.  That of a self-join is the right one. */
typedef struct JoinInput
{
	PlanState  *plan;			/* NULL of the left side of a self-join */
	ExprState  *key;
	List	   *equal;			/* ExprStates of the equality keys */
	FmgrInfo   *hash;			/* hash functions of the equality keys */
	int			first_column;	/* index of its first column in the joined row, from 0 */
	int			ncolumns;
	TupleTableSlot *slot;		/* slot for a stored tuple */
	JoinStore	store;
	bool		done;			/* true if the last row has been read */
	bool		complete;		/* true if the store has all rows of the input */
} JoinInput;

typedef struct SimHashJoinState
{
	CustomScanState css;		/* must be first */
	JoinSpec	spec;
	ExprState  *radius;			/* NULL if the method has none */
	ExprState  *cheap_clauses;	/* clauses to test before the values of a pair are compared */
	ExprState  *clauses;		/* other clauses that decide whether a pair of rows matches */
	List	   *filter;			/* cheap_clauses and clauses, as expressions */
	JoinInput	left;
	JoinInput	right;
	JoinMatch  *match;			/* state of the method, which finds pairs */
	Bitmapset  *key_params;		/* parameters that the keys of the inputs depend on */

	JoinPhase	phase;
	bool		matchable;		/* false if no row can have a match */
	uint32	   *matched;		/* bitmap of the left rows that have a match; NULL for an
								 * inner join */
	uint32		partition;		/* number of the next partition */
	TupleLocation loaded;		/* location of the left tuple in the joined row, or
								 * NO_TUPLE */
	PendingPairs pending;		/* pairs whose tuples are in files */
	bool		returns_pending;	/* true if pending pairs are being returned */
	EntryReader *rest;			/* of a self-join: readers of the entries after the left chunk */
	bool		joined_itself;	/* true if the loaded left chunk was joined with itself */
	JoinPair	pair;			/* the current pair, if pairs do not wait */
	const JoinPair *current;	/* the current pair */
	bool		accepted;		/* true if verify() has accepted it */
	bool		exchange;		/* true if it is to be offered in the other order, too */
	uint32		unmatched;		/* index of the next loaded left entry to return if it has
								 * no match */

	JoinParallel *parallel;		/* NULL if there is no shared memory */
	TupleTableSlot *kept_slot;	/* slot for a row of the result that a parallel join has kept */
	JoinCounters counters;		/* of this process; those of the method are not always set */
	JoinCounters of_workers;	/* of the workers that are known to have finished */
} SimHashJoinState;

/*
 * Return the size of the bitmap of matched left rows, in bytes.
 */
static inline Size
join_bitmap_size(const SimHashJoinState *state)
{
	return state->spec.jointype == JOIN_INNER ? 0 :
		(state->match->left->nrows / 32 + 1) * sizeof(uint32);
}

/* join_exec.c */
extern void join_exec_init(void);

/* join_phases.c */
extern TupleTableSlot *join_next_row(CustomScanState *css);

/* join_input.c */
extern void join_input_init(SimHashJoinState *state, JoinInput *input, Plan *plan,
							int first_column, Expr *key, EState *estate, int eflags);
extern void join_evaluate_radius(SimHashJoinState *state);
extern void join_check_rows(uint64 n);
extern TupleTableSlot *join_input_read_right(SimHashJoinState *state);
extern TupleTableSlot *join_input_read_left(SimHashJoinState *state);

/* join_return.c */
extern TupleTableSlot *join_row_clear(SimHashJoinState *state);
extern void join_row_put(JoinInput *input, TupleTableSlot *slot, TupleTableSlot *row);
extern TupleTableSlot *join_row_project(SimHashJoinState *state, TupleTableSlot *row);
extern TupleTableSlot *join_return_match(SimHashJoinState *state);
extern TupleTableSlot *join_return_unmatched(SimHashJoinState *state);

#endif							/* SIMHASH_JOIN_STATE_H */
