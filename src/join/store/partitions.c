/*
 * Partitions of the entries of two inputs, in temporary files
 *
 * Inputs that exceed memory are partitioned in rounds.  A round partitions all entries by one
 * block of fingerprints, by one band of signatures, or by the keys of arrays, which takes one
 * round, in which entries are written when they are made (join_match_write()).
 *
 * Of fingerprints there is a round for each block that can be the first of a choice.  The
 * partitions by block b hold all pairs whose choice begins with b.  So the entries are
 * written and read k + 1 times at most, with 16 bytes each, or 24 if the join is no inner
 * join or has equalities.  All partitions of an input are in one file, the next round in
 * another one.  With 8 MB, there are up to 512 partitions of up to 44,000 entries of
 * each input.  With more memory they have up to 32,768, which mostly stay in the
 * processor's cache.  There are no more partitions than a block has values, about 2^7 with
 * k = 8.  A partition that does not fit is joined chunk by chunk.  With few chunks and
 * many keys, all chunks of signatures are joined with each other instead, which writes no
 * entry again.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/store/partitions.h"

/* Number of entries that are read at a time. */
#define READ_TOGETHER		1024

/* Minimum size of the block of a partition, in bytes. */
#define MIN_BLOCK			2048

/* Number of partitions that is allowed even if their blocks exceed BUFFERS_DIVISOR. */
#define MIN_PARTITIONS		8

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
 * Initialize `n` partitions, a power of 2, in each of nrounds rounds.  While entries are
 * distributed, blocks take at most `memory` / BUFFERS_DIVISOR bytes, or an entry for each
 * partition if that is more.  `left` is NULL if there is one input.
 */
void
join_partitions_init(JoinPartitions *partitions, MemoryContext context, uint32 n, int nrounds,
					 PartitionFunction number_of, const void *arg, Size memory,
					 EntryReader *left, EntryReader *right)
{
	*partitions = (JoinPartitions) {
		AllocSetContextCreate(context, "similarity join partitions", ALLOCSET_SMALL_SIZES),
		n, nrounds, number_of, arg, memory / BUFFERS_DIVISOR,
		.left.source = left,.right.source = right
	};
}

/*
 * Distribute the entries of an input to the partitions of a round.
 */
static void
distribute_entries(JoinPartitions *partitions, PartitionedInput *input, int round)
{
	MemoryContext context = partitions->context;
	EntryReader *source = input->source;
	JoinEntry  *entries = MemoryContextAlloc(context,
											 READ_TOGETHER * join_entry_stride(source->entry_size));
	EntryWriter writer = {
		&input->blocks, partitions->number_of, partitions->arg, partitions->n, round,
		.entry_size = source->entry_size,
		.partition = MemoryContextAllocZero(context, partitions->n * sizeof(EntryList))
	};
	uint32		n;

	join_tuples_init(&input->blocks, context, FILE_ONLY);
	entry_writer_init(&writer, context, partitions->memory);
	source->nread = 0;
	while ((n = entry_reader_read(source, entries, READ_TOGETHER)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < n; i++)
			entry_writer_add(&writer,
							 join_entry_at(entries, join_entry_stride(source->entry_size), i));
	}
	entry_writer_end(&writer);
	input->partition = entry_readers_make(context, &input->blocks, source->entry_size,
										  writer.partition - partitions->n, partitions->n);
	pfree(writer.block);
	pfree(entries);
}

/*
 * Distribute the entries of both inputs to the partitions of a round, unless they were written
 * there when they were made.  Discards the partitions of another round.
 */
void
join_partitions_make(JoinPartitions *partitions, int round)
{
	if (partitions->context == NULL)
		return;
	join_tuples_close(&partitions->left.blocks);
	join_tuples_close(&partitions->right.blocks);
	MemoryContextReset(partitions->context);
	if (partitions->left.source)
		distribute_entries(partitions, &partitions->left, round);
	distribute_entries(partitions, &partitions->right, round);
}

/*
 * Delete the files and free the memory.  Does nothing if there are no partitions.
 */
void
join_partitions_close(JoinPartitions *partitions)
{
	join_tuples_close(&partitions->left.blocks);
	join_tuples_close(&partitions->right.blocks);
	if (partitions->context)
		MemoryContextDelete(partitions->context);
	memset(partitions, 0, sizeof(JoinPartitions));
}
