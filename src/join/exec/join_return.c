/*-------------------------------------------------------------------------
 *
 * join_return.c
 *		Rows that a similarity join returns
 *
 * A chunk of left entries and a chunk of right entries are loaded.  The values of both are
 * paired (distance_pairs.c), and each pair of values gives pairs of rows.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"

#include "join/exec/join_return.h"
#include "join/exec/join_row.h"
#include "join/exec/join_signatures.h"

/*
 * Advance to the next two entries within the radius, or with a key of a band in common.
 * Skips left entries that need no more matches.  Returns false at the end of the two
 * loaded chunks.
 */
static bool
next_entries(SimHashJoinState *state, JoinEntry **left, JoinEntry **right)
{
	if (join_is_by_bands(state))
	{
		bool		found = join_bands_next(&state->bands, left, right);

		state->npairs += found;
		return found;
	}
	do
	{
		JoinValue  *a = state->left_value;
		JoinValue  *b = state->right_value;

		CHECK_FOR_INTERRUPTS();
		for (; a && state->left_entry < a->nleft; state->left_entry++, state->right_entry = 0)
		{
			*left = &a->left[state->left_entry];
			if (state->right_entry == b->nright ||
				join_pairs_row_done(&state->pairs, (*left)->row))
				continue;
			*right = &b->right[state->right_entry++];
			state->npairs++;
			return true;
		}
		state->left_entry = state->right_entry = 0;
	} while (join_pairs_next(&state->pairs, &state->left_value, &state->right_value));
	state->left_value = state->right_value = NULL;
	return false;
}

/*
 * Return the next pair of rows within the radius, or NULL at the end of the two loaded
 * chunks.  If tuples are in files, collects pairs in the batch, and returns them once the
 * batch is full.
 */
static const JoinPair *
next_row_pair(SimHashJoinState *state)
{
	JoinEntry  *left;
	JoinEntry  *right;

	for (;;)
	{
		if (state->returns_batch)
		{
			const JoinPair *pair = join_batch_next(&state->batch, &state->right.tuples);

			if (pair)
				return pair;
			state->returns_batch = false;
		}
		if (!next_entries(state, &left, &right))
			return NULL;
		if (!state->uses_batch)
		{
			state->pair = (JoinPair) {left->location, right->location, left->row};
			return &state->pair;
		}
		join_batch_add(&state->batch, left->location, right->location, left->row);
		if (join_batch_is_full(&state->batch))
		{
			join_batch_sort(&state->batch);
			state->returns_batch = true;
		}
	}
}

/*
 * Mark a left row as having a match.  If one match is enough, and fingerprints are joined,
 * the row must be one of state->left_value, whose number of unmatched rows is reduced.
 */
static void
mark_matched(SimHashJoinState *state, uint32 row)
{
	if (state->matched == NULL || join_bitmap_has(state->matched, row))
		return;
	state->matched[row / 8] |= 1 << row % 8;
	if (join_needs_one_match(state) && state->left_value)
		join_pairs_note_match(&state->pairs, state->left_value);
}

/*
 * Return the next row of the result that comes from a match, or NULL if the two loaded
 * chunks have no more.  For an antijoin, only marks the left rows that have a match, and
 * returns NULL.
 */
TupleTableSlot *
join_return_match(SimHashJoinState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool		is_anti = state->spec.jointype == JOIN_ANTI;
	const JoinPair *pair;

	while ((pair = next_row_pair(state)) != NULL)
	{
		TupleTableSlot *row = NULL;
		TupleTableSlot *result;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		if (!is_anti || state->clauses || join_is_by_bands(state))
		{
			econtext->ecxt_scantuple = row = join_row_make(state, pair->left, pair->right);
			if (!ExecQual(state->clauses, econtext) ||
				(join_is_by_bands(state) && !join_signatures_share_band(state)))
			{
				InstrCountFiltered2(&state->css.ss.ps, 1);
				continue;
			}
		}
		mark_matched(state, pair->row);
		if (!is_anti && (result = join_row_project(state, row)) != NULL)
			return result;
	}
	return NULL;
}

/*
 * Return the next row of the result that comes from a left row without a match, or NULL if
 * there are no more.  If the join is partitioned, loads all left entries again, in the
 * order of their file.
 */
TupleTableSlot *
join_return_unmatched(SimHashJoinState *state)
{
	JoinEntries *entries = &state->left.entries;

	for (;;)
	{
		TupleTableSlot *result;
		JoinEntry  *entry;

		CHECK_FOR_INTERRUPTS();
		if (state->unmatched == entries->n)
		{
			if (!state->partitioned || !join_entries_load_unsorted(entries))
				return NULL;
			state->unmatched = 0;
		}
		entry = join_entries_at(entries, state->unmatched++);
		if (join_bitmap_has(state->matched, entry->row))
			continue;
		ResetExprContext(state->css.ss.ps.ps_ExprContext);
		result = join_row_project(state, join_row_make(state, entry->location, NO_TUPLE));
		if (result)
			return result;
	}
}
