/*
 * What the methods of a similarity join have in common
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "join/match/join_methods.h"

/* A parallel join has as many partitions in each round for each participant, if not more. */
#define UNITS_PER_PARTICIPANT	16

/*
 * Add the counters of a process, or of another loop.  The memory and files of several processes are
 * used at the same time.
 */
void
join_counters_add(JoinCounters *sum, const JoinCounters *counters, bool is_loop)
{
	sum->ncandidates += counters->ncandidates;
	sum->nremoved += counters->nremoved;
	sum->npairs += counters->npairs;
	sum->nvalues += counters->nvalues;
	sum->ncompared += counters->ncompared;
	sum->npasses += counters->npasses;
	sum->nbatches = Max(sum->nbatches, counters->nbatches);
	sum->memory = is_loop ? Max(sum->memory, counters->memory) : sum->memory + counters->memory;
	sum->disk = is_loop ? Max(sum->disk, counters->disk) : sum->disk + counters->disk;
	if (counters->largest_group > sum->largest_group)
	{
		sum->largest_group = counters->largest_group;
		sum->agree = counters->agree;
		sum->nblocks = counters->nblocks;
	}
}

/*
 * Move the entries of an input that are in memory to the file.
 */
void
join_match_spill(JoinMatch *match, JoinStore *store)
{
	if (match->methods->spill_tuples)
		match->methods->spill_tuples(match, store);
	join_entries_spill(&store->entries);
	store->nwritten = 0;
}

/*
 * Limit the loaded entries of both sides to their parts of `memory` bytes.  All entries must be
 * in files.
 */
void
join_match_limit(JoinMatch *match, Size memory)
{
	Size		capacity = join_match_capacity(match, memory, match->partitioned_divisor);

	join_entries_limit(&match->right->entries, capacity);
	if (join_match_is_self(match))
	{
		if (match->chunk.entry)
			pfree(match->chunk.entry);
		match->chunk = match->right->entries;
		match->left_entries = &match->chunk;
	}
	else
		join_entries_limit(&match->left->entries, capacity);
}

/*
 * Choose the number of partitions, most of which fit into the memory of the loaded entries, if
 * the larger input has nentries entries.  Leaves a margin for partitions of uneven size.  Returns
 * the number of rounds.
 */
int
join_match_choose(JoinMatch *match, double nentries, uint32 *n)
{
	uint32		max = join_partitions_max(match->memory);

	*n = 1;
	if (match->shared)
		while (*n < UNITS_PER_PARTICIPANT * match->nparticipants && *n * 2 <= max)
			*n *= 2;
	while (*n * 2 <= max && nentries * 1.5 / *n > match->right->entries.capacity)
		*n *= 2;
	return match->methods->choose_rounds ? match->methods->choose_rounds(match, nentries, n) : 1;
}

/*
 * Limit the loaded entries to `memory` bytes, and initialize partitions, most of which fit
 * into that.
 */
void
join_match_partition(JoinMatch *match, Size memory)
{
	JoinEntryFile *right = &match->right->entries.file;
	JoinEntryFile *left = join_match_is_self(match) ? right : &match->left->entries.file;
	uint32		n;
	int			nrounds;

	join_match_limit(match, memory);
	nrounds = join_match_choose(match, Max(left->n, right->n), &n);
	join_partitions_init(&match->partitions, match->left->context, n, nrounds,
						 match->methods->partition_of, match, match->memory, left, right);
}
