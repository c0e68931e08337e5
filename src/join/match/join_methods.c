/*
 * What the methods of a similarity join have in common
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "join/match/join_methods.h"

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
 * Limit the loaded entries to `memory` bytes, and initialize partitions, most of which fit
 * into that.  Leaves a margin for partitions of uneven size.
 */
void
join_match_partition(JoinMatch *match, Size memory)
{
	JoinEntryFile *right = &match->right->entries.file;
	JoinEntryFile *left = join_match_is_self(match) ? right : &match->left->entries.file;
	double		nentries = Max(left->n, right->n);
	uint32		n = 1;
	int			nrounds = 1;

	join_match_limit(match, memory);
	while (n * 2 <= join_partitions_max(match->memory) &&
		   nentries * 1.5 / n > match->right->entries.capacity)
		n *= 2;
	if (match->methods->choose_rounds)
		nrounds = match->methods->choose_rounds(match, &n);
	join_partitions_init(&match->partitions, match->left->context, n, nrounds,
						 match->methods->partition_of, match, match->memory, left, right);
}
