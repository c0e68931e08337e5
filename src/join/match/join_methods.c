/*
 * What the methods of a similarity join have in common
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "join/match/join_methods.h"

/*
 * Limit the loaded entries of both inputs to their parts of `memory` bytes.  All entries
 * must be in files.
 */
void
join_match_limit(JoinMatch *match, Size memory)
{
	Size		capacity = join_match_capacity(match, memory, match->partitioned_divisor);

	join_entries_limit(&match->left->entries, capacity);
	join_entries_limit(&match->right->entries, capacity);
}

/*
 * Return the number of partitions with which most partitions fit into memory.  Leaves a
 * margin for partitions of uneven size.
 */
uint32
join_match_partitions(const JoinMatch *match)
{
	double		nentries = Max(match->left->entries.file.n, match->right->entries.file.n);
	uint32		n = 1;

	while (n * 2 <= join_partitions_max(match->memory) &&
		   nentries * 1.5 / n > match->right->entries.capacity)
		n *= 2;
	return n;
}
