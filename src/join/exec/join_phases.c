/*
 * Phases of a similarity join
 *
 * The right input is read first.  Its entries and tuples stay in memory, or go to temporary
 * files.  Then the left input is read.
 *
 * If the right entries fit into memory, the left input is read and joined in chunks that
 * fit beside the right entries.  If the left input fits, the right entries are loaded in
 * chunks.  If neither input fits, both inputs are partitioned, in one round or several
 * (join_methods.c).  Left and right entries of the same partition are joined.  A partition
 * that does not fit is joined chunk by chunk.
 *
 * A self-join has one input, the right one.  Its entries are joined with themselves, all in
 * memory or those of the same partition.
 *
 * After a chunk of the left input, or after all partitions, a left join or antijoin
 * returns the left rows without a match.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "join/exec/join_parallel.h"

/*
 * Update the maxima of memory and disk space in use.
 */
static void
record_space(SimHashJoinState *state)
{
	const JoinMatch *match = state->match;
	Size		memory = MemoryContextMemAllocated(match->right->context, true) +
		MemoryContextMemAllocated(match->context, true);
	uint64		disk = join_store_disk(match->right);

	if (!join_match_is_self(match))
	{
		memory += MemoryContextMemAllocated(match->left->context, true);
		disk += join_store_disk(match->left);
	}
	if (match->shared)
		memory += state->parallel->arenas->used;
	state->counters.memory = Max(state->counters.memory, memory);
	state->counters.disk = Max(state->counters.disk, disk);
}

/*
 * Prepare to read a chunk of the left input.  Returns the next phase.
 */
static JoinPhase
begin_chunk(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;

	if (state->left.done || match->shared)
		return JOIN_DONE;
	match->partitioned = false;
	state->matched = NULL;
	state->left.complete = match->left->nrows == 0;
	join_store_reset(match->left, match->left_limit, PG_INT32_MAX, match->entry_size);
	state->loaded = NO_TUPLE;
	return READ_LEFT;
}

/*
 * Prepare to return the last pending pairs.  If there are none, prepare to return left rows
 * without a match, if the join returns them.  Returns the next phase.
 */
static JoinPhase
end_chunk(SimHashJoinState *state)
{
	JoinEntries *left = state->match->left_entries;

	if (state->pending.n > 0)
	{
		pending_sort(&state->pending);
		state->returns_pending = true;
		return RETURN_PENDING;
	}
	state->unmatched = 0;
	if (state->match->shared)
		return join_parallel_returns_unmatched(state) ? RETURN_UNMATCHED : JOIN_DONE;
	if (!join_returns_unmatched(state->match))
		return begin_chunk(state);
	if (state->match->partitioned)
	{
		join_entries_load_all(left);
		left->n = 0;
	}
	return RETURN_UNMATCHED;
}

/*
 * Advance to the next partition that has entries of both inputs.  After the last one,
 * partitions both inputs for the next round.  Returns the next phase.
 */
static JoinPhase
next_partition(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;

	if (match->shared)
		return join_parallel_next_partition(state) ? NEXT_LEFT_CHUNK : end_chunk(state);
	for (;;)
	{
		while (state->partition < match->npartitions)
		{
			EntryReader *left = &match->left->partition[state->partition];
			EntryReader *right = &match->right->partition[state->partition];

			state->partition++;
			if (left->list.n == 0 || right->list.n == 0)
				continue;
			match->left_entries->source = left;
			match->right->entries.source = right;
			match->left_entries->nsources = match->right->entries.nsources = 1;
			join_entries_rewind(match->left_entries);
			return NEXT_LEFT_CHUNK;
		}
		if (++match->round == match->nrounds)
			return end_chunk(state);
		join_match_distribute(match);
		record_space(state);
		state->partition = 0;
	}
}

/*
 * Prepare to join the rows of the left input that have been read.  Returns the next phase.
 */
static JoinPhase
begin_matches(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	JoinEntries *right = &match->right->entries;
	int			nbatches = 1;
	Size		bitmap_size = join_bitmap_size(state);
	bool		needs_one_match = join_needs_one_match(state->spec.jointype);

	record_space(state);
	match->nleft = match->left->nrows;
	if (state->matchable && match->left->nrows > 0 && !match->knows_radius)
		join_evaluate_radius(state);
	if (join_match_is_self(match))
		match->partitioned = right->nwritten > 0;
	if (!state->matchable && !join_returns_unmatched(match))
		return JOIN_DONE;
	if (bitmap_size > 0)
	{
		join_check_rows(match->left->nrows);
		if (state->matched == NULL)
			state->matched = MemoryContextAllocHuge(match->left->context, bitmap_size);
		memset(state->matched, 0, bitmap_size);
	}
	match->done = needs_one_match ? state->matched : NULL;
	if (!state->matchable)
		return end_chunk(state);
	if (match->partitioned)
	{
		/* a self-join may have more rows than the planner expects */
		join_match_partition(match, match->memory - Min(bitmap_size, match->memory / BITMAP_DIVISOR));
		match->round = -1;
		state->partition = match->npartitions;
	}
	else
	{
		join_entries_load_all(right);
		join_entries_rewind(match->left_entries);
	}
	if (match->partitioned && match->npartitions > 1)
		nbatches = match->npartitions;
	else if (right->nwritten > 0)
		nbatches = (right->nwritten - 1) / right->capacity + 1;
	state->counters.nbatches = Max(state->counters.nbatches, nbatches);
	return match->partitioned ? next_partition(state) : NEXT_LEFT_CHUNK;
}

/*
 * Begin with the left input, once the right one has been read.  Returns the next phase.
 */
static JoinPhase
begin_outer(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;

	match->nright = match->right->nrows;
	state->matchable = match->nright > 0;
	state->counters.nbatches = Max(state->counters.nbatches, 1);
	if (!state->matchable && !join_returns_unmatched(match))
		return JOIN_DONE;
	if (!state->left.done)
		return begin_chunk(state);

	/* a rescan has kept the left rows, too, or the right ones are the left ones */
	return begin_matches(state);
}

/*
 * Prepare to read the right input, unless a rescan has kept it.  Returns the next phase.
 */
static JoinPhase
begin_join(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;

	join_parallel_begin(state);
	match->knows_radius = false;
	match->left_entries = &match->left->entries;
	match->right_entries = &match->right->entries;
	state->pending.n = state->pending.next = state->pending.end = 0;
	state->returns_pending = state->exchange = false;
	if (state->right.done)
		return begin_outer(state);
	match->methods->begin(match);
	join_store_reset(match->right, match->right_limit,
					 join_match_capacity(match, match->memory, match->right_divisor),
					 match->entry_size);
	match->chunk.entry = NULL;
	state->matched = NULL;
	pending_init(&state->pending, match->right->context, match->memory / PENDING_DIVISOR);
	state->right.complete = true;
	if (!match->shared)
		return READ_RIGHT;
	join_parallel_build(state);
	record_space(state);
	return RETURN_KEPT;
}

/*
 * Load the next chunk of left entries.  Returns the next phase.
 */
static JoinPhase
next_left_chunk(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;

	if (!join_entries_load(match->left_entries))
		return match->partitioned ? next_partition(state) : end_chunk(state);
	state->joined_itself = false;
	if (!join_match_is_self(match))
		join_entries_rewind(match->right_entries);
	return NEXT_RIGHT_CHUNK;
}

/*
 * Load the next chunk of right entries.  The right chunks of a self-join are the left chunk,
 * and then those that follow it in the file.  If one match of a row is enough, they are all
 * chunks, because the rows before a row may have been skipped.  Returns false if there are no more.
 */
static bool
load_right_chunk(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;

	if (!join_match_is_self(match))
		return join_entries_load(match->right_entries);
	if (!state->joined_itself)
	{
		state->joined_itself = true;
		match->right_entries = match->left_entries;
		if (match->done == NULL || !match->left_entries->is_part)
			return true;
	}
	if (match->left_entries->source == NULL)
		return false;
	if (match->right_entries == match->left_entries)
	{
		match->right_entries = &match->right->entries;
		match->right_entries->source = state->rest;
		match->right_entries->nsources = match->left_entries->nsources;
		memcpy(state->rest, match->left_entries->source,
			   match->left_entries->nsources * sizeof(EntryReader));
		if (match->left_entries->is_part && match->done)
			join_entries_rewind(match->right_entries);
	}
	return join_entries_load(match->right_entries);
}

/*
 * Return true if no loaded left row needs another match.
 */
static bool
left_is_done(const JoinMatch *match)
{
	const JoinEntries *left = match->left_entries;
	uint32		i = 0;

	while (i < left->n && join_row_is_done(match->done, join_entries_at(left, i)->row))
		i++;
	return i == left->n;
}

/*
 * Load the next chunk of right entries, and begin to pair the loaded left entries with
 * them.  Returns the next phase.
 */
static JoinPhase
next_right_chunk(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;

	if (left_is_done(match) || !load_right_chunk(state))
		return NEXT_LEFT_CHUNK;
	match->methods->begin_pairs(match);
	state->counters.npasses++;
	return RETURN_MATCHES;
}

/*
 * Return the next row.  A CustomScan callback.
 */
TupleTableSlot *
join_next_row(CustomScanState *css)
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
			case READ_RIGHT:
				if ((result = join_input_read_right(state)) == NULL)
					state->phase = begin_outer(state);
				break;
			case RETURN_KEPT:
				if ((result = join_parallel_return_kept(state)) == NULL)
					state->phase = next_partition(state);
				break;
			case READ_LEFT:
				if ((result = join_input_read_left(state)) == NULL)
					state->phase = begin_matches(state);
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
					record_space(state);
					state->phase = NEXT_RIGHT_CHUNK;
				}
				break;
			case RETURN_PENDING:
				if ((result = join_return_match(state)) == NULL)
					state->phase = end_chunk(state);
				break;
			case RETURN_UNMATCHED:
				if ((result = join_return_unmatched(state)) == NULL)
					state->phase = begin_chunk(state);
				break;
			case JOIN_DONE:
				break;
		}
	}
	return result;
}
