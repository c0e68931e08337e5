/*-------------------------------------------------------------------------
 *
 * partitions.c
 *		Partitions of the entries of two inputs, in temporary files
 *
 * Inputs that exceed memory are partitioned by one block of a plan after the other
 * (corpus/join_plan.c).  The partitions by a block contain all pairs that a choice
 * beginning with this block finds.  So each input is read and written once for each block
 * that can be the first of a choice, not once for each choice.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "join/store/partitions.h"

/* Number of entries that are read at a time. */
#define READ_TOGETHER		1024

/*
 * Return the bits of a fingerprint at the positions set in `mask`, moved into the low
 * bits.  The mask must not have all bits set.
 */
static uint64
gather_bits(SimHash fp, uint64 mask)
{
	uint64		bits = 0;
	int			nbits = 0;

	while (mask != 0)
	{
		int			shift = pg_rightmost_one_pos64(mask);
		int			length = pg_rightmost_one_pos64(~(mask >> shift));
		uint64		run = (UINT64CONST(1) << length) - 1;

		bits |= (fp >> shift & run) << nbits;
		nbits += length;
		mask &= ~(run << shift);
	}
	return bits;
}

/*
 * Return the number of the partition of an entry.
 */
static uint32
partition_of(const JoinPartitions *partitions, const JoinEntry *entry, int block)
{
	uint32		value = partitions->bands ? join_bands_key(partitions->bands, entry, block) :
		entry->hash + gather_bits(entry->fp, partitions->mask[block]);

	return value & (partitions->n - 1);
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
 * Create the file for the partitions of an input, and count the entries of each partition
 * by each block.
 */
static void
init_side(JoinPartitions *partitions, PartitionedInput *input, JoinEntryFile *source)
{
	MemoryContext context = partitions->context;
	Size		ncounts = (Size) partitions->nblocks * partitions->n;
	Size		stride = join_entry_stride(source->entry_size);
	JoinEntry  *entry = MemoryContextAlloc(context, READ_TOGETHER * stride);
	uint32		n;

	input->source = source;
	input->file = join_create_file(context);
	extend_file(input->file, source->n * source->entry_size);
	input->partition = MemoryContextAllocZero(context, partitions->n * sizeof(JoinEntryFile));
	input->count = MemoryContextAllocZero(context, ncounts * sizeof(uint64));
	join_entry_file_rewind(source);
	while ((n = join_entry_file_read(source, entry, READ_TOGETHER)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (int block = 0; block < partitions->nblocks; block++)
			for (uint32 i = 0; i < n; i++)
			{
				uint32		p = partition_of(partitions, join_entry_at(entry, stride, i), block);

				input->count[block * partitions->n + p]++;
			}
	}
	pfree(entry);
}

/*
 * Initialize `n` partitions by the blocks of a plan that can be the first of a choice.  If
 * plan is NULL, by the first `nbands` bands.  If there are no blocks or bands, entries are
 * partitioned once, by the equality keys.  n must be a power of 2.  Distributing the
 * entries takes `memory` bytes.
 */
void
join_partitions_init(JoinPartitions *partitions, MemoryContext context, uint32 n,
					 const JoinPlan *plan, const JoinBands *bands, int nbands, Size memory,
					 JoinEntryFile *left, JoinEntryFile *right)
{
	partitions->context = context;
	partitions->n = n;
	partitions->buffer_size = Min(memory / n, BLCKSZ);
	partitions->bands = plan ? NULL : bands;
	if (plan == NULL)
		partitions->nblocks = Max(nbands, 1);
	else
		partitions->nblocks = plan->agree > 0 ? plan->nblocks - plan->agree + 1 : 1;
	for (int block = 0; plan && block < partitions->nblocks; block++)
	{
		uint64		mask = plan->agree > 0 ? plan->mask[block] : 0;
		int			nbits = Min(pg_popcount64(mask), pg_leftmost_one_pos32(n));

		/* leave the most significant bits */
		while (pg_popcount64(mask) > nbits)
			mask &= mask - 1;
		partitions->mask[block] = mask;
	}
	init_side(partitions, &partitions->left, left);
	init_side(partitions, &partitions->right, right);
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
 * Distribute the entries of an input to the partitions by a block.
 */
static void
distribute_entries(JoinPartitions *partitions, PartitionedInput *input, int block)
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
		first += input->count[block * partitions->n + i];
	}
	join_entry_file_rewind(input->source);
	while ((n = join_entry_file_read(input->source, entries, READ_TOGETHER)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < n; i++)
		{
			const JoinEntry *entry = join_entry_at(entries, stride, i);
			uint32		p = partition_of(partitions, entry, block);

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
 * Distribute the entries of both inputs to the partitions, by the equality keys and by
 * some of the most significant bits of a block.  So tuples of a partition by the first
 * block are close to each other in the file.  Discards the previous contents of the
 * partitions.
 */
void
join_partitions_make(JoinPartitions *partitions, int block)
{
	distribute_entries(partitions, &partitions->left, block);
	distribute_entries(partitions, &partitions->right, block);
}

/*
 * Delete the files.  To free the memory, the caller resets or deletes the context.
 */
void
join_partitions_close(JoinPartitions *partitions)
{
	if (partitions->left.file)
		BufFileClose(partitions->left.file);
	if (partitions->right.file)
		BufFileClose(partitions->right.file);
	memset(partitions, 0, sizeof(JoinPartitions));
}
