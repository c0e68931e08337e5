/*-------------------------------------------------------------------------
 *
 * join_exec.c
 *		Execution of a similarity join
 *
 * The right input is read first.  Its entries and tuples stay in memory, or go to temporary
 * files.  Then the left input is read.
 *
 * If the right entries fit into memory, the left input is read and joined in chunks that
 * fit beside the right entries.  If the left input fits, the right entries are loaded in
 * chunks.  If neither input fits, both inputs are partitioned by one block of a plan after
 * the other, for each block that can be the first one of a choice (partitions.c).
 * Left and right entries of the same partition are joined.  A partition that does not fit
 * is joined chunk by chunk.
 *
 * After a chunk of the left input, or after all partitions, a left join or antijoin
 * returns the left rows without a match.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "join/exec/join_exec.h"
#include "join/exec/join_explain.h"
#include "join/exec/join_input.h"
#include "join/exec/join_plan_partitions.h"
#include "join/exec/join_return.h"
#include "join/exec/join_row.h"
#include "join/store/entry_sort.h"
#include "type/simhash_type.h"

static const CustomExecMethods join_exec_methods;

/*
 * Create the state of a similarity join.  A CustomScan callback.
 */
Node *
join_create_state(CustomScan *scan)
{
	SimHashJoinState *state = (SimHashJoinState *) newNode(sizeof(SimHashJoinState), T_CustomScanState);

	state->css.methods = &join_exec_methods;
	join_read_spec(scan, &state->spec);
	return (Node *) state;
}

/*
 * Return true if the result may need columns of the right input.  For a semijoin, checks
 * the target list and the filter, which may contain the right ctid for EvalPlanQual.  An
 * antijoin needs none, because it returns these columns as NULL.
 */
static bool
needs_right_columns(const SimHashJoinState *state)
{
	const Plan *plan = state->css.ss.ps.plan;
	Bitmapset  *columns = NULL;

	if (!join_needs_one_match(state))
		return true;
	if (state->spec.jointype == JOIN_ANTI)
		return false;
	pull_varattnos((Node *) plan->targetlist, INDEX_VAR, &columns);
	pull_varattnos((Node *) plan->qual, INDEX_VAR, &columns);
	return bms_prev_member(columns, -1) + FirstLowInvalidHeapAttributeNumber >
		state->left.ncolumns;
}

/*
 * Start the node.  A CustomScan callback.
 */
static void
join_begin(CustomScanState *css, EState *estate, int eflags)
{
	SimHashJoinState *state = (SimHashJoinState *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;
	JoinSpec   *spec = &state->spec;
	ListCell   *cell;
	int			i;

	join_input_init(state, &state->left, linitial(scan->custom_plans), 0, spec->left_key,
					spec->left_equal, estate, eflags);
	join_input_init(state, &state->right, lsecond(scan->custom_plans), state->left.ncolumns,
					spec->right_key, spec->right_equal, estate, eflags);
	state->radius = ExecInitExpr(spec->radius, &css->ss.ps);
	state->clauses = ExecInitQual(spec->clauses, &css->ss.ps);

	state->left.entry_size = state->right.entry_size =
		join_memory_entry_size(spec->jointype, spec->equal_operators != NIL, 0);
	state->left.keeps_tuples = true;
	state->right.keeps_tuples = join_is_by_bands(state) || spec->clauses != NIL ||
		needs_right_columns(state);

	/* check that the user may execute the functions of all clauses */
	ExecInitQual(spec->distance_clauses, &css->ss.ps);

	state->collation = palloc(list_length(spec->equal_collations) * sizeof(Oid));
	i = 0;
	foreach(cell, spec->equal_collations)
		state->collation[i++] = lfirst_oid(cell);
	state->pairs.context = AllocSetContextCreate(CurrentMemoryContext, "similarity join pairs",
												 ALLOCSET_DEFAULT_SIZES);
	state->bands.context = state->pairs.context;
	/* zeroed, because bytes without a value go to files, too */
	state->entry = palloc0(join_is_by_bands(state) ? MAX_ENTRY_SIZE : sizeof(JoinEntry));
	for (i = 0; i < BAND_SALT; i++)
		state->salt[i] = pg_prng_uint64(&pg_global_prng_state);
	state->memory = get_hash_memory_limit();
	state->phase = BEGIN_JOIN;
}

/*
 * Update the maxima of memory and disk space in use.
 */
static void
note_space(SimHashJoinState *state)
{
	Size		memory = MemoryContextMemAllocated(state->left.context, true) +
		MemoryContextMemAllocated(state->right.context, true) +
		MemoryContextMemAllocated(state->pairs.context, true);
	uint64		entries = state->left.entries.file.n + state->right.entries.file.n;

	/* partitions are copies of all entries */
	state->peak_memory = Max(state->peak_memory, memory);
	state->disk = Max(state->disk, state->left.tuples.file_size + state->right.tuples.file_size +
					  state->left.signatures.file_size + state->right.signatures.file_size +
					  entries * state->left.entry_size * (state->partitioned ? 2 : 1));
}

/* --- phases ---------------------------------------------------------------------- */

/*
 * Delete the partitions, if there are any.
 */
static void
end_partitions(SimHashJoinState *state)
{
	join_partitions_close(&state->partitions);
	state->partitioned = false;
}

/*
 * Read the right input.  Returns the next phase.
 */
static JoinPhase
begin_join(SimHashJoinState *state)
{
	join_pairs_init(&state->pairs);
	if (join_is_by_bands(state))
		state->left.entry_size = state->right.entry_size = ENTRY_SIZE_FULL;
	state->bands.nbands = 0;
	state->has_other_params = false;
	join_input_reset(state, &state->right,
					 state->memory / (join_is_by_bands(state) ? SIGNATURES_PART : ALL_TUPLES_PART),
					 join_right_capacity(state));
	join_batch_init(&state->batch, state->right.context, state->memory / BATCH_PART);
	state->returns_batch = false;
	join_input_read_right(state);
	state->left.done = false;
	state->knows_radius = false;
	state->matchable = state->right.nrows > 0;
	return state->matchable || join_returns_unmatched(state) ? BEGIN_CHUNK : JOIN_DONE;
}

/*
 * Evaluate the radius.  If it is NULL or negative, no row can match.  As in a nested loop,
 * the radius is evaluated only if both inputs have rows that may match, since the
 * evaluation may raise an error.
 */
static void
evaluate_radius(SimHashJoinState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool		isnull;
	Datum		value = ExecEvalExprSwitchContext(state->radius, econtext, &isnull);
	int64		radius = isnull ? -1 : DatumGetInt64(value);

	state->matchable = radius >= 0;
	state->pairs.join.radius = state->matchable ? simhash_clamp_radius(radius) : 0;
	state->knows_radius = true;
	ResetExprContext(econtext);
}

/*
 * Prepare to read a chunk of the left input.  Returns the next phase.
 */
static JoinPhase
begin_chunk(SimHashJoinState *state)
{
	end_partitions(state);
	if (state->left.done)
		return JOIN_DONE;
	join_input_reset(state, &state->left,
					 join_is_by_bands(state) ? state->memory / SIGNATURES_PART : 0, PG_INT32_MAX);
	state->loaded = NO_TUPLE;
	return READ_LEFT;
}

/*
 * Prepare to return the last pairs of the batch.  If there are none, prepare to return
 * left rows without a match, if the join returns them.  Returns the next phase.
 */
static JoinPhase
end_chunk(SimHashJoinState *state)
{
	if (state->batch.n > 0)
	{
		join_batch_sort(&state->batch);
		state->returns_batch = true;
		return RETURN_BATCH;
	}
	if (!join_returns_unmatched(state))
		return BEGIN_CHUNK;
	state->unmatched = 0;
	if (state->partitioned)
	{
		state->left.entries.source = &state->left.entries.file;
		join_entries_rewind(&state->left.entries);
		state->left.entries.n = 0;
	}
	return RETURN_UNMATCHED;
}

/*
 * Prepare to join the rows of the left input that have been read.  Returns the next phase.
 */
static JoinPhase
begin_matches(SimHashJoinState *state)
{
	state->uses_batch = !join_needs_one_match(state) &&
		(state->left.tuples.file || state->right.tuples.file);
	note_space(state);
	if (state->matchable && state->left.nrows > 0 && !state->knows_radius)
		evaluate_radius(state);
	if (!state->matchable && !join_returns_unmatched(state))
		return JOIN_DONE;
	state->matched = NULL;
	if (state->spec.jointype != JOIN_INNER)
	{
		Size		size = state->left.nrows / 8 + 1;

		state->matched = MemoryContextAllocHuge(state->left.context, size);
		memset(state->matched, 0, size);
	}
	if (!state->matchable)
		return end_chunk(state);
	if (state->partitioned)
	{
		join_plan_partitions(state);
		return NEXT_BLOCK;
	}
	state->right.entries.source = state->right.entries.file.n > 0 ?
		&state->right.entries.file : NULL;
	join_entries_rewind(&state->left.entries);
	return NEXT_LEFT_CHUNK;
}

/*
 * Partition both inputs by the next block or band.  If there is none, partition once, by
 * the equality keys.  Returns the next phase.
 */
static JoinPhase
next_block(SimHashJoinState *state)
{
	if (++state->block == state->partitions.nblocks)
		return end_chunk(state);
	join_partitions_make(&state->partitions, state->block);
	note_space(state);
	state->partition = 0;
	return NEXT_PARTITION;
}

/*
 * Advance to the next partition that has entries of both inputs.  Returns the next phase.
 */
static JoinPhase
next_partition(SimHashJoinState *state)
{
	JoinPartitions *partitions = &state->partitions;

	while (state->partition < partitions->n)
	{
		JoinEntryFile *left = &partitions->left.partition[state->partition];
		JoinEntryFile *right = &partitions->right.partition[state->partition++];

		if (left->n == 0 || right->n == 0)
			continue;
		state->left.entries.source = left;
		state->right.entries.source = right;
		join_entries_rewind(&state->left.entries);
		return NEXT_LEFT_CHUNK;
	}
	return NEXT_BLOCK;
}

/*
 * Load the next chunk of entries.  Fingerprints are sorted.  Returns false if there are no
 * more entries.
 */
static bool
load_chunk(SimHashJoinState *state, JoinEntries *entries)
{
	bool		found = join_entries_load(entries);

	if (found && !join_is_by_bands(state) && !entries->sorted)
	{
		join_sort(entries->entry, entries->n);
		entries->sorted = true;
	}
	return found;
}

/*
 * Load the next chunk of left entries.  Returns the next phase.
 */
static JoinPhase
next_left_chunk(SimHashJoinState *state)
{
	if (!load_chunk(state, &state->left.entries))
		return state->partitioned ? NEXT_PARTITION : end_chunk(state);
	join_entries_rewind(&state->right.entries);
	return NEXT_RIGHT_CHUNK;
}

/*
 * Load the next chunk of right entries, and begin to pair the loaded left entries with
 * them.  Returns the next phase.
 */
static JoinPhase
next_right_chunk(SimHashJoinState *state)
{
	bool		by_block = state->partitioned && state->partitions.n > 1 &&
		(join_is_by_bands(state) || state->plan.agree > 0);
	const uint8 *matched = join_needs_one_match(state) ? state->matched : NULL;

	if (!load_chunk(state, &state->right.entries))
		return NEXT_LEFT_CHUNK;
	if (join_is_by_bands(state))
		join_bands_begin(&state->bands, &state->left.entries, &state->right.entries, matched,
						 by_block ? state->block : 0,
						 by_block ? state->block + 1 : state->bands.nbands + state->has_other_params);
	else
		join_pairs_begin(&state->pairs, &state->left.entries, &state->right.entries, matched,
						 by_block ? &state->plan : NULL, state->block,
						 by_block ? pg_popcount64(state->partitions.mask[state->block]) : 0);
	state->nbatches++;
	return RETURN_MATCHES;
}

/*
 * Return the next row.  A CustomScan callback.
 */
static TupleTableSlot *
join_exec(CustomScanState *css)
{
	SimHashJoinState *state = (SimHashJoinState *) css;
	TupleTableSlot *result = NULL;

	while (result == NULL && state->phase != JOIN_DONE)
	{
		switch (state->phase)
		{
			case BEGIN_JOIN:
				state->phase = begin_join(state);
				break;
			case BEGIN_CHUNK:
				state->phase = begin_chunk(state);
				break;
			case READ_LEFT:
				if ((result = join_input_read_left(state)) == NULL)
					state->phase = begin_matches(state);
				break;
			case NEXT_BLOCK:
				state->phase = next_block(state);
				break;
			case NEXT_PARTITION:
				state->phase = next_partition(state);
				break;
			case NEXT_LEFT_CHUNK:
				state->phase = next_left_chunk(state);
				break;
			case NEXT_RIGHT_CHUNK:
				state->phase = next_right_chunk(state);
				break;
			case RETURN_MATCHES:
				if ((result = join_return_match(state)) == NULL)
				{
					note_space(state);
					state->phase = NEXT_RIGHT_CHUNK;
				}
				break;
			case RETURN_BATCH:
				if ((result = join_return_match(state)) == NULL)
					state->phase = end_chunk(state);
				break;
			case RETURN_UNMATCHED:
				if ((result = join_return_unmatched(state)) == NULL)
					state->phase = BEGIN_CHUNK;
				break;
			case JOIN_DONE:
				break;
		}
	}
	return result;
}

/*
 * Free the rows of both inputs, and delete the files.
 */
static void
forget_inputs(SimHashJoinState *state)
{
	end_partitions(state);
	join_input_close(&state->left);
	join_input_close(&state->right);
	MemoryContextReset(state->pairs.context);
	state->left_value = state->right_value = NULL;
	join_row_clear(state);
}

/*
 * Prepare to return the rows again, perhaps with other parameters.  A CustomScan callback.
 */
static void
join_rescan(CustomScanState *css)
{
	SimHashJoinState *state = (SimHashJoinState *) css;
	ListCell   *cell;

	forget_inputs(state);
	state->phase = BEGIN_JOIN;
	foreach(cell, css->custom_ps)
	{
		PlanState  *plan = lfirst(cell);

		if (css->ss.ps.chgParam)
			UpdateChangedParamSet(plan, css->ss.ps.chgParam);
		if (plan->chgParam == NULL)
			ExecReScan(plan);
	}
}

/*
 * End the node.  A CustomScan callback.
 */
static void
join_end(CustomScanState *css)
{
	SimHashJoinState *state = (SimHashJoinState *) css;

	forget_inputs(state);
	ExecEndNode(state->left.plan);
	ExecEndNode(state->right.plan);
}

static const CustomExecMethods join_exec_methods = {
	.CustomName = "SimHash Join",
	.BeginCustomScan = join_begin,
	.ExecCustomScan = join_exec,
	.EndCustomScan = join_end,
	.ReScanCustomScan = join_rescan,
	.ExplainCustomScan = join_explain
};
