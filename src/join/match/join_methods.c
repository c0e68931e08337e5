/*
 * What the methods of a similarity join have in common
 *
 * Inputs that exceed memory are partitioned in rounds.  A round partitions all entries by one
 * block of fingerprints, by one band of signatures, or by the keys of arrays, which takes one
 * round, in which entries are written when they are made (join_match_begin_partitions()).
 *
 * Of fingerprints there is a round for each block that can be the first of a choice.  The
 * partitions by block b hold all pairs whose choice begins with b.  So the entries are written and
 * read k + 1 times at most.  All partitions of an input are in one file, the next round in another
 * one.  With 8 MB, there are up to 512 partitions of up to 44,000 entries of each input.  With more memory they
 * have up to 32,768, which mostly stay in the processor's cache.  There are no more partitions
 * than a block has values, about 2^7 with k = 8.  A partition that does not fit is joined chunk by
 * chunk.  With few chunks and many keys, all chunks of signatures are joined with each other
 * instead, which writes no entry again.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "join/match/join_methods.h"

/* Minimum size of the block of a partition, in bytes. */
#define MIN_BLOCK			2048

/* Number of partitions that is allowed even if their blocks exceed BUFFERS_DIVISOR. */
#define MIN_PARTITIONS		8

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
	store->ntuples_written = 0;
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
 * Return the maximum number of partitions of a join with `memory` bytes, for which the
 * blocks that are being filled fit into their part of the memory.
 */
uint32
join_partitions_max(Size memory)
{
	return Max(memory / BUFFERS_DIVISOR / MIN_BLOCK, MIN_PARTITIONS);
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
 * Begin to write the entries of an input to n partitions in each round, whose lists are empty.
 */
void
join_match_begin_writing(JoinMatch *match, JoinStore *store, uint32 n, EntryList *list)
{
	EntryWriter *writer = MemoryContextAlloc(store->context, sizeof(EntryWriter));

	*writer = (EntryWriter) {
		&store->blocks, match->methods->partition_of, match, n, 0, match->entry_size,
		.partition = list
	};
	entry_writer_init(writer, store->context, match->memory / BUFFERS_DIVISOR);
	store->entries.writer = writer;
}

/*
 * Write what is left of the partitions of the last round, and free what writing needs.
 */
void
join_match_end_writing(JoinStore *store)
{
	entry_writer_end(store->entries.writer);
	pfree(store->entries.writer->block);
	pfree(store->entries.writer);
	store->entries.writer = NULL;
}

/*
 * Begin to write the entries of an input to their partitions when they are made, because they do
 * not fit into memory.  Writes those that are in the array.  Keys must need the radius.  The right
 * input, which is the first one, decides on the number of partitions.
 */
void
join_match_begin_partitions(JoinMatch *match, JoinStore *store)
{
	JoinEntries *entries = &store->entries;
	Size		capacity = entries->capacity;
	uint32		n = match->right->entries.nall;

	if (store == match->right)
	{
		entries->capacity = join_match_capacity(match, match->memory, match->partitioned_divisor);
		join_match_choose(match, match->nentries, &n);
	}
	join_match_begin_writing(match, store, n,
							 MemoryContextAllocZero(store->context, n * sizeof(EntryList)));
	join_entries_write(entries);
	join_entries_limit(entries, capacity);
}

/*
 * Write the last entries of an input.  From now on, chunks are loaded from its partitions.
 */
void
join_match_end_partitions(JoinStore *store)
{
	JoinEntries *entries = &store->entries;
	EntryList  *list = entries->writer->partition;

	entries->nall = entries->writer->n;
	join_match_end_writing(store);
	entries->all = entry_readers_make(store->context, &store->blocks, entries->entry_size, list,
									  entries->nall);
	for (int i = 0; i < entries->nall; i++)
		entries->nwritten += list[i].n;
	pfree(list);
	join_entries_load_all(entries);
}

/*
 * Limit the loaded entries to `memory` bytes, and choose partitions, most of which fit into that,
 * unless entries were written to them when they were made.
 */
void
join_match_partition(JoinMatch *match, Size memory)
{
	JoinStore  *left = match->left;
	JoinStore  *right = match->right;

	join_match_limit(match, memory);
	if (match->methods->keys_need_radius)
	{
		left->partition = left->entries.all;
		right->partition = right->entries.all;
		match->npartitions = right->entries.nall;
		match->nrounds = 1;
	}
	else
		match->nrounds = join_match_choose(match, Max(left->entries.nwritten, right->entries.nwritten),
										   &match->npartitions);
}

/*
 * Distribute the entries of an input to the partitions of the current round, in place of those of
 * the round before.
 */
static void
distribute_entries(JoinMatch *match, JoinStore *store)
{
	uint32		n = match->npartitions;
	EntryList  *list = MemoryContextAllocZero(store->context, n * sizeof(EntryList));

	join_tuples_close(&store->blocks);
	join_tuples_init(&store->blocks, store->context, 0);
	join_match_begin_writing(match, store, n, list);
	store->entries.writer->round = match->round;
	join_entries_load_all(&store->entries);
	join_entries_write(&store->entries);
	join_match_end_writing(store);
	if (store->partition)
		pfree(store->partition);
	store->partition = entry_readers_make(store->context, &store->blocks, match->entry_size, list, n);
	pfree(list);
}

/*
 * Distribute the entries of both inputs to the partitions of the current round, unless they were
 * written there when they were made.
 */
void
join_match_distribute(JoinMatch *match)
{
	if (match->methods->keys_need_radius)
		return;
	if (!join_match_is_self(match))
		distribute_entries(match, match->left);
	distribute_entries(match, match->right);
}
