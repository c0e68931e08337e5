/*
 * Partitions of the entries of two inputs, in temporary files
 *
 * Inputs that exceed memory are partitioned in rounds.  A round partitions all entries by one
 * block of fingerprints, by one band of signatures, or by the keys of arrays, which takes one
 * round.
 *
 * Of fingerprints there is a round for each block that can be the first of a choice.  The
 * partitions by block b hold all pairs whose choice begins with b.  So the entries are
 * written and read k + 1 times at most, with 16 bytes each, or 24 if the join is no inner
 * join or has equalities.  All partitions of an input are in one file, which the next
 * round overwrites.  With 8 MB, there are up to 512 partitions of up to 44,000 entries of
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

/* Minimum size of the buffer of a partition, in bytes. */
#define MIN_BUFFER			2048

/* Number of partitions that is allowed even if their buffers exceed BUFFERS_DIVISOR. */
#define MIN_PARTITIONS		8

/*
 * Return the number of the partition of an entry.
 */
static inline uint32
partition_of(const JoinPartitions *partitions, const JoinEntry *entry, int round)
{
	return partitions->number_of(partitions->arg, entry, round) & (partitions->n - 1);
}

/*
 * Extend an empty file, so that any byte of the first `size` can be written.  A seek
 * cannot leave the segments of a file, which have 1 GB each.
 */
static void
extend_file(BufFile *file, uint64 size)
{
	const uint64 segment = UINT64CONST(1) << 30;

	for (uint64 end = segment; end < size; end += segment)
	{
		join_seek_file(file, end);
		BufFileWrite(file, "", 1);
	}
}

/*
 * Prepare a new file for the partitions of an input, in which there will be up to `size`
 * bytes, and count the entries of each partition in each round.
 */
static void
init_side(JoinPartitions *partitions, PartitionedInput *input, JoinEntryFile *source,
		  BufFile *file, uint64 size)
{
	MemoryContext context = partitions->context;
	Size		ncounts = (Size) partitions->nrounds * partitions->n;
	Size		stride = join_entry_stride(source->entry_size);
	JoinEntry  *entry = MemoryContextAlloc(context, READ_TOGETHER * stride);
	uint32		n;

	input->source = source;
	input->file = file;
	extend_file(file, size);
	input->partition = MemoryContextAllocZero(context, partitions->n * sizeof(JoinEntryFile));
	input->count = MemoryContextAllocZero(context, ncounts * sizeof(uint64));
	source->nread = 0;
	while ((n = join_entry_file_read(source, entry, READ_TOGETHER)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (int round = 0; round < partitions->nrounds; round++)
			for (uint32 i = 0; i < n; i++)
			{
				uint32		p = partition_of(partitions, join_entry_at(entry, stride, i), round);

				input->count[round * partitions->n + p]++;
			}
	}
	pfree(entry);
}

/*
 * Return the maximum number of partitions of a join with `memory` bytes, for which the
 * buffers fit into their part of the memory.
 */
uint32
join_partitions_max(Size memory)
{
	return Max(memory / BUFFERS_DIVISOR / MIN_BUFFER, MIN_PARTITIONS);
}

/*
 * Initialize `n` partitions, a power of 2, in each of nrounds rounds.  While entries are
 * distributed, buffers take at most `memory` / BUFFERS_DIVISOR bytes, or an entry for each
 * partition if that is more.  If `left` is `right`, there is one input.
 */
void
join_partitions_init(JoinPartitions *partitions, MemoryContext context, uint32 n, int nrounds,
					 PartitionFunction number_of, const void *arg, Size memory,
					 JoinEntryFile *left, JoinEntryFile *right)
{
	partitions->context = AllocSetContextCreate(context, "similarity join partitions",
												ALLOCSET_DEFAULT_SIZES);
	partitions->n = n;
	partitions->buffer_size = Min(memory / BUFFERS_DIVISOR / n, BLCKSZ);
	partitions->nrounds = nrounds;
	partitions->number_of = number_of;
	partitions->arg = arg;
	if (left != right)
		init_side(partitions, &partitions->left, left, join_create_file(partitions->context),
				  left->n * left->entry_size);
	init_side(partitions, &partitions->right, right, join_create_file(partitions->context),
			  right->n * right->entry_size);
}

/*
 * Write the entries in a partition's buffer to the partition.
 */
static void
flush_buffer(JoinEntryFile *partition, const char *buffer, uint32 n)
{
	join_seek_file(partition->file, (partition->first + partition->n) * partition->entry_size);
	BufFileWrite(partition->file, unconstify(char *, buffer), n * partition->entry_size);
	partition->n += n;
}

/*
 * Distribute the entries of an input to the partitions of a round.
 */
static void
distribute_entries(JoinPartitions *partitions, PartitionedInput *input, int round)
{
	Size		entry_size = input->source->entry_size;
	Size		stride = join_entry_stride(entry_size);
	JoinEntry  *entries = MemoryContextAlloc(partitions->context, READ_TOGETHER * stride);
	uint32	   *nbuffered = MemoryContextAllocZero(partitions->context, partitions->n * sizeof(uint32));
	Size		buffer_size = Max(partitions->buffer_size / entry_size, 1) * entry_size;
	char	   *buffer = MemoryContextAllocHuge(partitions->context, partitions->n * buffer_size);
	uint64		first = 0;
	uint32		n;

	for (uint32 i = 0; i < partitions->n; i++)
	{
		input->partition[i] = (JoinEntryFile) {
			.file = input->file, .entry_size = entry_size, .first = first
		};
		first += input->count[round * partitions->n + i];
	}
	input->source->nread = 0;
	while ((n = join_entry_file_read(input->source, entries, READ_TOGETHER)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < n; i++)
		{
			JoinEntry  *entry = join_entry_at(entries, stride, i);
			uint32		p = partition_of(partitions, entry, round);

			memcpy(buffer + p * buffer_size + nbuffered[p] * entry_size, entry, entry_size);
			if (++nbuffered[p] * entry_size == buffer_size)
			{
				flush_buffer(&input->partition[p], buffer + p * buffer_size, nbuffered[p]);
				nbuffered[p] = 0;
			}
		}
	}
	for (uint32 p = 0; p < partitions->n; p++)
		if (nbuffered[p] > 0)
			flush_buffer(&input->partition[p], buffer + p * buffer_size, nbuffered[p]);
	pfree(buffer);
	pfree(nbuffered);
	pfree(entries);
}

/*
 * Distribute the entries of both inputs to the partitions of a round.  Discards the
 * previous contents of the partitions.
 */
void
join_partitions_make(JoinPartitions *partitions, int round)
{
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
	if (partitions->left.file)
		BufFileClose(partitions->left.file);
	if (partitions->right.file)
		BufFileClose(partitions->right.file);
	if (partitions->context)
		MemoryContextDelete(partitions->context);
	memset(partitions, 0, sizeof(JoinPartitions));
}
