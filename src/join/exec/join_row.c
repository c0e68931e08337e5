/*-------------------------------------------------------------------------
 *
 * join_row.c
 *		The joined row
 *
 * The joined row is a virtual tuple with the columns of both inputs.  Its values point
 * into the inputs' slots.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/instrument.h"

#include "join/exec/join_state.h"

/*
 * Return the slot of the joined row, cleared.
 */
TupleTableSlot *
join_row_clear(SimHashJoinState *state)
{
	TupleTableSlot *row = state->css.ss.ss_ScanTupleSlot;

	state->loaded = NO_TUPLE;
	ExecClearTuple(row);
	memset(row->tts_isnull, true, row->tts_tupleDescriptor->natts * sizeof(bool));
	return row;
}

/*
 * Set the columns of the joined row that belong to an input.  Values passed by reference
 * stay in the input's slot.
 */
void
join_row_put(JoinInput *input, TupleTableSlot *slot, TupleTableSlot *row)
{
	slot_getallattrs(slot);
	memcpy(row->tts_values + input->first_column, slot->tts_values,
		   input->ncolumns * sizeof(Datum));
	memcpy(row->tts_isnull + input->first_column, slot->tts_isnull,
		   input->ncolumns * sizeof(bool));
}

/*
 * Set the columns of the joined row to those of a stored tuple.
 */
static void
put_tuple(JoinInput *input, TupleLocation location, TupleTableSlot *row)
{
	ExecStoreMinimalTuple(join_tuples_fetch(&input->store.tuples, location), input->slot,
						  false);
	join_row_put(input, input->slot, row);
}

/*
 * Make the joined row of two stored tuples.  If `right` is NO_TUPLE, the right columns are
 * NULL.  A left tuple is fetched once for all consecutive pairs that have it.  Its columns
 * are set each time, because the executor may have materialized the joined row.
 */
TupleTableSlot *
join_row_make(SimHashJoinState *state, TupleLocation left, TupleLocation right)
{
	TupleTableSlot *row = state->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(row);
	if (state->loaded == left)
		join_row_put(&state->left, state->left.slot, row);
	else
		put_tuple(&state->left, left, row);
	state->loaded = left;
	if (right != NO_TUPLE)
		put_tuple(&state->right, right, row);
	else
		memset(row->tts_isnull + state->right.first_column, true,
			   state->right.ncolumns * sizeof(bool));
	return ExecStoreVirtualTuple(row);
}

/*
 * Return the result row for the joined row, or NULL if a clause above the join rejects it.
 */
TupleTableSlot *
join_row_project(SimHashJoinState *state, TupleTableSlot *row)
{
	PlanState  *ps = &state->css.ss.ps;

	ps->ps_ExprContext->ecxt_scantuple = row;
	if (!ExecQual(ps->qual, ps->ps_ExprContext))
	{
		InstrCountFiltered1(ps, 1);
		return NULL;
	}
	return ps->ps_ProjInfo ? ExecProject(ps->ps_ProjInfo) : row;
}
