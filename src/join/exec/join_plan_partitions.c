/*-------------------------------------------------------------------------
 *
 * join_plan_partitions.c
 *		Plans the partitions of a join whose inputs do not fit into memory
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "join/exec/join_plan_partitions.h"

/* An entry is sorted by a key in the time that writing and reading so many bytes takes. */
#define BYTES_PER_SORTING	64

/*
 * Return the maximum number of partitions, for which the buffers fit into their part of
 * the memory.
 */
static uint32
max_partitions(const SimHashJoinState *state)
{
	return Max(state->memory / FILES_PART / MIN_BUFFER, MIN_PARTITIONS);
}

/*
 * Plan the blocks of fingerprints to partition by.
 */
static void
plan_blocks(SimHashJoinState *state)
{
	double		nleft = state->left.nrows;
	double		nright = state->right.nrows;
	uint32		nsample_left = Min(state->left.nrows, INPUT_SAMPLE);
	uint32		nsample_right = Min(state->right.nrows, INPUT_SAMPLE);
	SimHash    *sample = palloc((nsample_left + nsample_right) * sizeof(SimHash));
	Size		capacity = state->memory / PARTITIONED_PART / join_bytes_per_entry(state);
	double		chunks;

	/* all tuples are in files, so more entries fit */
	join_entries_limit(&state->left.entries, capacity);
	join_entries_limit(&state->right.entries, capacity);

	/* a chunk of a partition is joined once for each chunk of the other input */
	chunks = Max(nleft, nright) / state->right.entries.capacity /
		Min(max_partitions(state), exp2((double) SIMHASH_BITS / (state->pairs.join.radius + 2)));
	memcpy(sample, state->left.sample, nsample_left * sizeof(SimHash));
	memcpy(sample + nsample_left, state->right.sample, nsample_right * sizeof(SimHash));
	join_plan_make(&state->plan, sample, nsample_left + nsample_right,
				   (nleft + nright) * Max(chunks, 1), state->pairs.join.radius,
				   nleft * nright, &state->pairs.join.random);
	pfree(sample);
}

/*
 * Return true if joining each chunk of left entries with each chunk of right ones takes
 * less time than partitioning by bands.  Chunks sort an entry again for each chunk of the
 * other input.  Partitions write an entry, with all of its keys, once for each band.
 */
static bool
chunks_are_cheaper(const SimHashJoinState *state, double nrows)
{
	return nrows / state->right.entries.capacity * BYTES_PER_SORTING <
		state->right.entry_size;
}

/*
 * Plan the blocks or bands to partition by, and choose the number of partitions so that
 * most of them fit into memory.
 */
void
join_plan_partitions(SimHashJoinState *state)
{
	double		nrows = Max(state->left.nrows, state->right.nrows);
	uint32		n = 1;
	int			nbands = state->bands.nbands + state->has_other_params;

	if (!join_is_by_bands(state))
		plan_blocks(state);

	/* leave a margin for partitions of uneven size */
	if (!join_is_by_bands(state) || !chunks_are_cheaper(state, nrows))
		while (n * 2 <= max_partitions(state) && nrows * 1.5 / n > state->right.entries.capacity)
			n *= 2;

	/* one partition for each block would join all chunks again for each block */
	if (n == 1)
		state->plan.agree = nbands = 0;
	join_partitions_init(&state->partitions, state->left.context, n,
						 join_is_by_bands(state) ? NULL : &state->plan,
						 &state->bands, nbands, state->memory / FILES_PART,
						 &state->left.entries.file, &state->right.entries.file);
	state->block = -1;
}
