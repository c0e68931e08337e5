/*
 * Inputs of a similarity join
 *
 * Reads rows, computes their keys, and keeps rows and keys.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "join/exec/join_state.h"

/*
 * Initialize an input.  Its columns in the joined row begin at first_column.
 */
void
join_input_init(SimHashJoinState *state, JoinInput *input, Plan *plan, int first_column,
				Expr *key, EState *estate, int eflags)
{
	PlanState  *parent = &state->css.ss.ps;
	bool		is_left = input == &state->left;
	ListCell   *cell;

	input->plan = ExecInitNode(plan, estate, eflags);
	state->css.custom_ps = lappend(state->css.custom_ps, input->plan);
	input->key = ExecInitExpr(key, parent);
	input->hash = palloc0(list_length(state->spec.equal) * sizeof(FmgrInfo));
	foreach(cell, state->spec.equal)
	{
		OpExpr	   *op = lfirst_node(OpExpr, cell);
		Oid			left_hash;
		Oid			right_hash;

		if (!get_op_hash_functions(op->opno, &left_hash, &right_hash))
			elog(ERROR, "could not find hash function for hash operator %u", op->opno);
		fmgr_info(is_left ? left_hash : right_hash, &input->hash[list_length(input->equal)]);
		input->equal = lappend(input->equal,
							   ExecInitExpr(list_nth(op->args, is_left ? 0 : 1), parent));
	}
	input->first_column = first_column;
	input->ncolumns = ExecGetResultType(input->plan)->natts;
	input->slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(input->plan),
										 &TTSOpsMinimalTuple);
	input->store.context = AllocSetContextCreate(CurrentMemoryContext, "similarity join input",
												 ALLOCSET_DEFAULT_SIZES);
	if (state->match->methods->stores_values)
	{
		input->store.value_column = join_value_column(state->css.ss.ps.plan, state->filter, key,
													  first_column,
													  join_is_self(&state->spec));
		input->store.narrow = ExecInitExtraTupleSlot(estate, ExecGetResultType(input->plan),
													 &TTSOpsVirtual);
	}
}

/* --- reading --------------------------------------------------------------------- */

/*
 * Compute the key of a row, and the hash value of its equality keys.  Returns false if one
 * of them is NULL, so that the row has no match.  Allocates in the current memory context.
 */
static bool
compute_keys(SimHashJoinState *state, JoinInput *input, TupleTableSlot *row, Datum *key,
			 uint32 *hash)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool		isnull;
	ListCell   *cell;
	ListCell   *op;
	FmgrInfo   *function = input->hash;

	econtext->ecxt_scantuple = row;
	*hash = 0;
	*key = ExecEvalExpr(input->key, econtext, &isnull);
	if (isnull)
		return false;
	forboth(cell, input->equal, op, state->spec.equal)
	{
		Datum		value = ExecEvalExpr((ExprState *) lfirst(cell), econtext, &isnull);

		if (isnull)
			return false;
		value = FunctionCall1Coll(function++, ((OpExpr *) lfirst(op))->inputcollid, value);
		*hash = hash_combine(*hash, DatumGetUInt32(value));
	}
	return true;
}

/*
 * Evaluate the radius, if there is one.  As in a nested loop, the radius is evaluated only
 * if both inputs have rows, since the evaluation may raise an error.
 */
void
join_evaluate_radius(SimHashJoinState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool		isnull;
	Datum		radius;

	state->match->knows_radius = true;
	if (state->radius == NULL)
		return;
	radius = ExecEvalExprSwitchContext(state->radius, econtext, &isnull);
	state->matchable = state->match->methods->set_radius(state->match, radius, isnull);
	ResetExprContext(econtext);
}

/*
 * Raise an error if the numbers of n rows do not fit into entries.
 */
void
join_check_rows(uint64 n)
{
	if (n > PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a similarity join cannot have more than %u rows", PG_UINT32_MAX)));
}

/*
 * Read the next row of an input into the joined row, and keep it if it may have a match.
 * Returns false at the end of the input.  Sets *result to the row of the result if it is not
 * kept and the join returns rows without a match, otherwise to NULL.
 */
static bool
read_row(SimHashJoinState *state, JoinInput *input, TupleTableSlot **result)
{
	TupleTableSlot *slot = ExecProcNode(input->plan);
	TupleTableSlot *row;
	MemoryContext old;
	Datum		key;
	uint32		hash;
	bool		kept;

	*result = NULL;
	if (TupIsNull(slot))
	{
		input->done = true;
		return false;
	}
	if (input == &state->left && state->matchable && !state->match->knows_radius &&
		state->match->methods->keys_need_radius)
		join_evaluate_radius(state);
	ResetExprContext(state->css.ss.ps.ps_ExprContext);
	row = join_row_clear(state);
	join_row_put(input, slot, row);
	ExecStoreVirtualTuple(row);
	old = MemoryContextSwitchTo(state->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	kept = compute_keys(state, input, row, &key, &hash) &&
		state->match->methods->add(state->match, &input->store, key, hash, slot);
	MemoryContextSwitchTo(old);
	input->store.nrows += kept;
	if (!kept && &input->store == state->match->left &&
		join_returns_unmatched(state->match))
	{
		input->complete = false;
		row = join_row_clear(state);
		join_row_put(&state->left, slot, row);
		*result = join_row_project(state, ExecStoreVirtualTuple(row));
	}
	return true;
}

/*
 * Read the right input, and keep the rows that may have a match.  If some entries are in a
 * file, moves all of them there.  Stops early to return a row of a self-join that is not kept, as
 * join_input_read_left() does.  Returns NULL at the end.
 */
TupleTableSlot *
join_input_read_right(SimHashJoinState *state)
{
	TupleTableSlot *result;

	while (read_row(state, &state->right, &result))
	{
		CHECK_FOR_INTERRUPTS();
		if (result)
			return result;
	}
	if (state->right.store.entries.source)
		join_match_spill(state->match, &state->right.store);
	return NULL;
}

/*
 * Return true if the chunk of left rows has used the memory that is left beside the right
 * rows, or has reached its capacity.
 */
static bool
chunk_is_full(const SimHashJoinState *state)
{
	const JoinMatch *match = state->match;
	const JoinStore *left = match->left;
	const JoinEntries *right = &match->right->entries;
	Size		nright = right->source ? right->capacity : right->allocated;
	Size		right_size = match->reserved + MemoryContextMemAllocated(match->right->context, true) +
		nright * match->joined_size + (nright - right->allocated) * right->entry_size.in_memory;
	Size		left_size = left->tuples.memory + left->values.memory + join_bitmap_size(state) +
		(Size) left->entries.n * (match->entry_size.in_memory + match->joined_size);
	Size		limit = right_size < match->memory ? match->memory - right_size : 0;

	/* a row may have many entries, but fewer than half of the capacity */
	return left->entries.n >= left->entries.capacity / 2 ||
		(left->entries.n > 0 && left_size > Max(limit, match->memory / MIN_CHUNK_DIVISOR));
}

/*
 * Return true if the left rows read so far are as many as may be partitioned together.
 * Further rows are joined after them.
 */
static bool
left_is_full(const SimHashJoinState *state)
{
	return state->left.store.nrows == PG_INT32_MAX ||
		join_bitmap_size(state) > state->match->memory / BITMAP_DIVISOR;
}

/*
 * Read a chunk of the left input, or all of it if neither input fits into memory.  Stops
 * early to return a row that is not kept, if the join returns rows without a match.
 * Returns NULL at the end of the chunk.
 */
TupleTableSlot *
join_input_read_left(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;

	for (;;)
	{
		TupleTableSlot *result;

		CHECK_FOR_INTERRUPTS();
		if (!match->partitioned && chunk_is_full(state))
		{
			if (match->right->entries.source == NULL)
				break;
			/* all later left rows go to temporary files, too */
			if (match->methods->keys_need_radius)
				join_match_begin_partitions(match, match->left);
			else
				join_match_spill(match, match->left);
			match->partitioned = true;
			join_match_limit(match, match->memory);
		}
		if ((!match->shared && left_is_full(state)) || !read_row(state, &state->left, &result))
			break;
		if (result)
			return result;
	}
	if (match->shared)
		return NULL;
	if (match->left->entries.writer)
		join_match_end_partitions(match->left);
	else if (match->partitioned)
		join_match_spill(match, match->left);
	return NULL;
}
