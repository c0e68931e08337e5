/*
 * Rows that a similarity join returns
 *
 * A chunk of left entries and a chunk of right entries are loaded, and the methods of the
 * join pair them.  The joined row of a pair is a virtual tuple with the columns of both
 * inputs.  Its values point into the inputs' slots.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "port/atomics.h"

#include "join/exec/join_state.h"

/* --- the joined row --------------------------------------------------------------- */

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
 * Set the columns of the joined row to those of a stored tuple of the left input.  The slot keeps
 * a copy if the right tuple may be read into the same buffer.
 */
static void
put_left(SimHashJoinState *state, TupleLocation location, TupleTableSlot *row)
{
	TupleTableSlot *slot = state->left.slot;

	if (state->loaded != location)
	{
		ExecStoreMinimalTuple(join_tuples_fetch(&state->match->left->tuples, location), slot,
							  false);
		if (join_is_self(&state->spec) && (location & IN_FILE))
			ExecMaterializeSlot(slot);
		state->loaded = location;
	}
	join_row_put(&state->left, slot, row);
}

/*
 * Make the joined row of two stored tuples.  If `right` is NO_TUPLE, the right columns are
 * NULL.  The columns of the left tuple are set each time, because the executor may have
 * materialized the joined row.
 */
static TupleTableSlot *
make_row(SimHashJoinState *state, TupleLocation left, TupleLocation right)
{
	TupleTableSlot *row = state->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(row);
	put_left(state, left, row);
	if (right != NO_TUPLE)
	{
		ExecStoreMinimalTuple(join_tuples_fetch(&state->match->right->tuples, right),
							  state->right.slot, false);
		join_row_put(&state->right, state->right.slot, row);
	}
	else
		memset(row->tts_isnull + state->right.first_column, true,
			   state->right.ncolumns * sizeof(bool));
	return ExecStoreVirtualTuple(row);
}

/*
 * Make the joined row of the current pair of a self-join, with the sides exchanged.
 */
static TupleTableSlot *
exchange_sides(SimHashJoinState *state)
{
	TupleTableSlot *row = ExecClearTuple(state->css.ss.ss_ScanTupleSlot);

	join_row_put(&state->left, state->right.slot, row);
	join_row_put(&state->right, state->left.slot, row);
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

/*
 * Mark a left row as one that has a match.  Returns true if it was not marked before.  In a
 * parallel join, one of several participants that mark a row gets true.
 */
static bool
mark_matched(SimHashJoinState *state, uint32 row)
{
	uint32		bit = (uint32) 1 << row % 32;
	uint32	   *matched = &state->matched[row / 32];
	uint32		old = *matched;

	if (state->match->shared)
		old = pg_atomic_fetch_or_u32((pg_atomic_uint32 *) matched, bit);
	else
		*matched |= bit;
	return (old & bit) == 0;
}

/* --- rows of the result ----------------------------------------------------------- */

/*
 * Return the next pair of rows that the methods find, or NULL at the end of the two loaded chunks.
 * If tuples are in files, lets pairs wait, and returns them once no more may be pending.
 */
static const JoinPair *
next_row_pair(SimHashJoinState *state)
{
	JoinEntry  *left;
	JoinEntry  *right;

	for (;;)
	{
		if (state->returns_pending)
		{
			const JoinPair *pair = pending_next(&state->pending, &state->right.store.tuples);

			if (pair)
				return pair;
			state->returns_pending = false;
		}
		if (!state->match->methods->next_pair(state->match, &left, &right))
			return NULL;
		state->pair = (JoinPair) {left->location, right->location, left->row, NO_ROW,
								  state->match->tag};
		if (join_is_self(&state->spec) && left->location != right->location)
			state->pair.right_row = Min(right->row, NO_ROW - 1);
		if (!((left->location | right->location) & IN_FILE) ||
			join_needs_one_match(state->spec.jointype))
			return &state->pair;
		pending_add(&state->pending, &state->pair);
		if (state->pending.n == state->pending.capacity)
		{
			pending_sort(&state->pending);
			state->returns_pending = state->pending.n > state->pending.capacity / 2;
		}
	}
}

/*
 * Return true if the values of the current pair match.  They are compared once for both orders.
 * A rejected pair is not offered in the other order.
 */
static bool
values_match(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;

	if (match->methods->verify && !state->accepted)
	{
		state->accepted = match->methods->verify(match, state->left.slot, state->right.slot,
												 state->current->tag);
		state->exchange &= state->accepted;
		return state->accepted;
	}
	return true;
}

/*
 * Return true if the current pair of rows matches.  The values are compared before all clauses
 * that are not cheap.  The joined row must have been made, unless there are no clauses and the
 * method has no verify().
 */
static bool
pair_matches(SimHashJoinState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;

	state->counters.ncandidates++;
	if (!ExecQual(state->cheap_clauses, econtext))
	{
		state->counters.nremoved++;
		return false;
	}
	if (!values_match(state))
		return false;
	state->counters.npairs++;
	if (ExecQual(state->clauses, econtext))
		return true;
	InstrCountFiltered2(&state->css.ss.ps, 1);
	return false;
}

/*
 * Return the next row of the result that comes from a match, or NULL if the two loaded
 * chunks have no more.  For an antijoin, only marks the left rows that have a match, and
 * returns NULL.  A pair of a self-join is offered to the clauses in both orders, but not for a
 * left row that needs no more matches, nor if a clause excludes the other order of a match.
 */
TupleTableSlot *
join_return_match(SimHashJoinState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool		is_anti = state->spec.jointype == JOIN_ANTI;

	while (state->exchange || (state->current = next_row_pair(state)) != NULL)
	{
		const JoinPair *pair = state->current;
		uint32		left_row = pair->row;
		TupleTableSlot *row = NULL;
		TupleTableSlot *result;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		if (state->exchange)
		{
			state->exchange = false;
			row = exchange_sides(state);
			left_row = pair->right_row;
		}
		else
		{
			state->exchange = pair->right_row != NO_ROW;
			state->accepted = false;
			if (!is_anti || state->exchange || state->clauses || state->match->methods->verify)
				row = make_row(state, pair->left, pair->right);
		}
		if (join_row_is_done(state->match->done, left_row))
			continue;
		econtext->ecxt_scantuple = row;
		if (!pair_matches(state))
			continue;
		if (state->spec.excludes == EXCLUDES_OTHER_ORDER)
			state->exchange = false;
		if (state->matched && !mark_matched(state, left_row) &&
			join_needs_one_match(state->spec.jointype))
			continue;
		if (!is_anti && (result = join_row_project(state, row)) != NULL)
			return result;
	}
	return NULL;
}

/*
 * Return the next row of the result that comes from a left row without a match, or NULL if
 * there are no more.  If the join is partitioned, loads all left entries again, in the
 * order of their file.  A row may have several entries, so it is marked once it is returned.
 */
TupleTableSlot *
join_return_unmatched(SimHashJoinState *state)
{
	JoinEntries *entries = state->match->left_entries;

	for (;;)
	{
		TupleTableSlot *result;
		JoinEntry  *entry;

		CHECK_FOR_INTERRUPTS();
		if (state->unmatched == entries->n)
		{
			if (!state->match->partitioned || !join_entries_load(entries))
				return NULL;
			state->unmatched = 0;
		}
		entry = join_entries_at(entries, state->unmatched++);
		if (join_row_is_done(state->matched, entry->row))
			continue;
		mark_matched(state, entry->row);
		ResetExprContext(state->css.ss.ps.ps_ExprContext);
		result = join_row_project(state, make_row(state, entry->location, NO_TUPLE));
		if (result)
			return result;
	}
}
