/*-------------------------------------------------------------------------
 *
 * join_input.c
 *		Inputs of a similarity join
 *
 * Reads rows, computes their keys, and keeps rows and keys.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "digest/splitmix.h"
#include "join/exec/join_input.h"
#include "join/exec/join_row.h"
#include "join/exec/join_signatures.h"
#include "join/store/entry_sort.h"
#include "type/simhash_type.h"

/*
 * Free the rows of an input, and delete its files.
 */
void
join_input_close(JoinInput *input)
{
	join_tuples_close(&input->tuples);
	join_tuples_close(&input->signatures);
	join_entries_close(&input->entries);
	MemoryContextReset(input->context);
}

/*
 * Free the rows of an input, and prepare to read other rows.  Tuples and signatures use at
 * most `limit` bytes of memory each, or any number of bytes if limit is 0.  At most
 * `capacity` entries are in memory; see join_entries_init().
 */
void
join_input_reset(SimHashJoinState *state, JoinInput *input, Size limit, Size capacity)
{
	join_input_close(input);
	join_tuples_init(&input->tuples, input->context, limit);
	join_tuples_init(&input->signatures, input->context, limit);
	join_entries_init(&input->entries, input->context, capacity, input->entry_size);
	input->nwritten = 0;
	input->nrows = 0;
}

/*
 * Initialize an input.  Its columns in the joined row begin at first_column.
 */
void
join_input_init(SimHashJoinState *state, JoinInput *input, Plan *plan, int first_column,
				Expr *key, List *equal, EState *estate, int eflags)
{
	PlanState  *parent = &state->css.ss.ps;
	ListCell   *cell;
	int			i = 0;

	input->plan = ExecInitNode(plan, estate, eflags);
	state->css.custom_ps = lappend(state->css.custom_ps, input->plan);
	input->key = ExecInitExpr(key, parent);
	input->equal = ExecInitExprList(equal, parent);
	input->hash = palloc0(list_length(equal) * sizeof(FmgrInfo));
	foreach(cell, state->spec.equal_operators)
	{
		Oid			left_hash;
		Oid			right_hash;

		if (!get_op_hash_functions(lfirst_oid(cell), &left_hash, &right_hash))
			elog(ERROR, "could not find hash function for hash operator %u", lfirst_oid(cell));
		fmgr_info(input == &state->left ? left_hash : right_hash, &input->hash[i++]);
	}
	input->first_column = first_column;
	input->ncolumns = ExecGetResultType(input->plan)->natts;
	input->slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(input->plan),
										 &TTSOpsMinimalTuple);
	input->sample = palloc(INPUT_SAMPLE * sizeof(SimHash));
	if (join_is_by_bands(state))
		join_signatures_init(state, input, key, estate);
	input->context = AllocSetContextCreate(CurrentMemoryContext, "similarity join input",
										   ALLOCSET_DEFAULT_SIZES);
}

/* --- reading --------------------------------------------------------------------- */

/*
 * Compute the fingerprint or the keys of the signature of a row, and its hash value.
 * Returns false if the fingerprint, the signature or an equality key is NULL, so that the
 * row has no match.
 */
static bool
compute_keys(SimHashJoinState *state, JoinInput *input, TupleTableSlot *row, JoinEntry *entry)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	bool		isnull;
	ListCell   *cell;
	int			i = 0;
	Datum		key;

	econtext->ecxt_scantuple = row;
	entry->hash = 0;
	key = ExecEvalExpr(input->key, econtext, &isnull);
	foreach(cell, input->equal)
	{
		Datum		value;

		if (isnull)
			break;
		value = ExecEvalExpr((ExprState *) lfirst(cell), econtext, &isnull);
		if (!isnull)
			entry->hash = hash_combine(entry->hash,
									   DatumGetUInt32(FunctionCall1Coll(&input->hash[i],
																		state->collation[i],
																		value)));
		i++;
	}
	if (!isnull && join_is_by_bands(state))
		join_signatures_set_keys(state, input, minhash_detoast(key), entry);
	else if (!isnull)
		entry->fp = DatumGetSimHash(key);
	MemoryContextSwitchTo(old);
	return !isnull;
}

/*
 * Read the next row of an input into the joined row, and compute its keys in state->entry.
 * Returns false at the end of the input.  Sets *has_keys to false if a key is NULL.
 * Otherwise sets *tuple, if the input keeps tuples.
 */
static bool
read_row(SimHashJoinState *state, JoinInput *input, bool *has_keys, MinimalTuple *tuple,
		 bool *free_tuple)
{
	TupleTableSlot *slot = ExecProcNode(input->plan);
	TupleTableSlot *row;

	if (TupIsNull(slot))
	{
		input->done = true;
		return false;
	}
	ResetExprContext(state->css.ss.ps.ps_ExprContext);
	row = join_row_clear(state);
	join_row_put(input, slot, row);
	ExecStoreVirtualTuple(row);
	*has_keys = compute_keys(state, input, row, state->entry);
	*free_tuple = true;
	if (*has_keys && join_is_by_bands(state))
		*tuple = join_signatures_add(input, slot);
	else if (*has_keys && input->keeps_tuples)
		*tuple = ExecFetchSlotMinimalTuple(slot, free_tuple);
	return true;
}

/*
 * Consider the fingerprint of the next row for the sample.  Every row so far is in the
 * sample with the same probability (Vitter, "Random sampling with a reservoir", 1985,
 * algorithm R).
 */
static void
note_sample(SimHashJoinState *state, JoinInput *input, SimHash fp)
{
	uint64		i = input->nrows;

	if (i >= INPUT_SAMPLE)
		i = draw_below(&state->pairs.join.random, Min(i + 1, PG_UINT32_MAX));
	if (i < INPUT_SAMPLE)
		input->sample[i] = fp;
}

/*
 * Move the tuples in memory to the temporary file, sorted like their entries.  So tuples
 * whose fingerprints are in the same partition are close to each other in the file.
 */
static void
spill_tuples(SimHashJoinState *state, JoinInput *input)
{
	JoinEntries *entries = &input->entries;

	if (!input->keeps_tuples)
		return;
	join_sort(entries->entry + input->nwritten, entries->n - input->nwritten);
	for (; input->nwritten < entries->n; input->nwritten++)
	{
		JoinEntry  *entry = &entries->entry[input->nwritten];

		CHECK_FOR_INTERRUPTS();
		entry->location = join_tuples_write(&input->tuples, entry->location);
	}
	join_tuples_free(&input->tuples);
	input->tuples.limit = state->memory / TUPLES_PART;
}

/*
 * Move the entries in memory to a temporary file.  The tuples go to a file, too, unless
 * they have a limit of their own.
 */
static void
spill_rows(SimHashJoinState *state, JoinInput *input)
{
	if (!join_is_by_bands(state))
		spill_tuples(state, input);
	join_entries_spill(&input->entries);
	input->nwritten = 0;
}

/*
 * Keep a row of an input: state->entry, and its tuple if the input keeps tuples.
 */
static void
keep_row(SimHashJoinState *state, JoinInput *input, MinimalTuple tuple, bool free_tuple)
{
	JoinEntry  *entry = state->entry;

	if (input->entries.n == input->entries.capacity)
		spill_rows(state, input);
	entry->location = NO_TUPLE;
	if (join_is_by_bands(state))
		entry->location = join_tuples_put(&input->tuples, tuple);
	else if (input->keeps_tuples)
	{
		if (join_tuples_is_full(&input->tuples, tuple))
			spill_tuples(state, input);
		entry->location = join_tuples_add(&input->tuples, tuple);
	}
	if (input->keeps_tuples && free_tuple)
		pfree(tuple);
	if (!join_is_by_bands(state))
		note_sample(state, input, entry->fp);
	entry->row = input->nrows++;
	join_entries_add(&input->entries, entry);
}

/*
 * Read the right input.  Keeps the rows without NULL keys.
 */
void
join_input_read_right(SimHashJoinState *state)
{
	JoinInput  *input = &state->right;
	MinimalTuple tuple = NULL;
	bool		has_keys;
	bool		free_tuple = false;

	while (read_row(state, input, &has_keys, &tuple, &free_tuple))
	{
		CHECK_FOR_INTERRUPTS();
		if (has_keys)
			keep_row(state, input, tuple, free_tuple);
	}
	if (input->entries.source)
		spill_rows(state, input);
}

/*
 * Return true if the chunk of left rows has used the memory that is left beside the right
 * rows, or has reached its capacity.
 */
static bool
chunk_is_full(const SimHashJoinState *state)
{
	const JoinEntries *left = &state->left.entries;
	Size		right_size = MemoryContextMemAllocated(state->right.context, true) +
		(Size) state->right.entries.allocated * join_memory_per_value(state->spec.method);
	Size		left_size = (Size) left->n * join_bytes_per_entry(state) +
		state->left.tuples.memory + state->left.signatures.memory;
	Size		limit;

	if (join_is_by_bands(state))
		right_size += state->memory / BATCH_PART * 2;
	limit = right_size < state->memory ? state->memory - right_size : 0;

	return left->n == left->capacity ||
		(left->n > 0 && left_size > Max(limit, state->memory / MIN_CHUNK_PART));
}

/*
 * Move the chunk of left rows to temporary files.  All later left rows go there, too.
 */
static void
spill_left(SimHashJoinState *state)
{
	JoinInput  *input = &state->left;

	spill_rows(state, input);
	state->partitioned = true;
	if (join_is_by_bands(state))
		join_entries_limit(&state->right.entries, join_right_capacity(state));
	join_entries_limit(&input->entries, state->right.entries.capacity);
}

/*
 * Read a chunk of the left input, or all of it (at most MAX_LEFT_ROWS rows) if neither
 * input fits into memory.  Stops early to return a row that has no match because a key is
 * NULL.  Returns NULL at the end of the chunk.
 */
TupleTableSlot *
join_input_read_left(SimHashJoinState *state)
{
	JoinInput  *input = &state->left;
	MinimalTuple tuple = NULL;
	bool		has_keys;
	bool		free_tuple = false;

	for (;;)
	{
		TupleTableSlot *result;

		CHECK_FOR_INTERRUPTS();
		if (!state->partitioned && chunk_is_full(state))
		{
			if (state->right.entries.source == NULL)
				break;
			spill_left(state);
		}
		if (input->nrows == MAX_LEFT_ROWS ||
			!read_row(state, input, &has_keys, &tuple, &free_tuple))
			break;
		if (has_keys)
			keep_row(state, input, tuple, free_tuple);
		else if (join_returns_unmatched(state) &&
				 (result = join_row_project(state, state->css.ss.ss_ScanTupleSlot)) != NULL)
			return result;
	}
	if (state->partitioned)
		spill_rows(state, input);
	return NULL;
}
