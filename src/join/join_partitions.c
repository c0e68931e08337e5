/*-------------------------------------------------------------------------
 *
 * join_partitions.c
 *		Partitions of the entries of two inputs, in temporary files
 *
 * Inputs that exceed memory are partitioned by one block of a plan after the other
 * (corpus/join_plan.c).  A partition by a block has all pairs whose choice of blocks begins
 * with it.  So each input is read and written once for each block that can be the first of
 * a choice, not once for each choice.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "join/join_partitions.h"

/* Entries that are read at a time. */
#define READ_TOGETHER		1024

/*
 * Initialize n empty partitions.
 */
void
join_partitions_init(JoinPartitions *partitions, MemoryContext context, uint32 n)
{
	partitions->context = context;
	partitions->n = n;
	partitions->left = MemoryContextAllocZero(context, n * sizeof(JoinEntryFile));
	partitions->right = MemoryContextAllocZero(context, n * sizeof(JoinEntryFile));
}

/*
 * Return the bits of a mask that a fingerprint has, side by side.
 */
static uint64
gather_bits(SimHash fp, uint64 mask)
{
	uint64		bits = 0;

	for (int n = 0; mask != 0; n++, mask &= mask - 1)
		bits |= (uint64) ((fp & mask & -mask) != 0) << n;
	return bits;
}

/*
 * Distribute the entries of a file.  The hash value of each entry becomes one of its
 * equality keys and of the bits of `mask`.  Each value of a few bits gets a partition of its
 * own, if there are enough partitions.
 */
static void
distribute_entries(JoinPartitions *partitions, JoinEntryFile *source, JoinEntryFile *target,
		   uint64 mask)
{
	JoinEntry  *entry = MemoryContextAlloc(partitions->context, READ_TOGETHER * sizeof(JoinEntry));
	uint32		n;

	join_entry_file_rewind(source);
	while ((n = join_entry_file_read(source, entry, READ_TOGETHER)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < n; i++)
		{
			uint64		bits = gather_bits(entry[i].fp, mask);
			uint32		partition = (entry[i].hash + bits) % partitions->n;

			entry[i].hash = hash_combine(entry[i].hash, murmurhash32(bits ^ bits >> 32));
			join_entry_file_add(&target[partition], &entry[i], 1, partitions->context);
		}
	}
	pfree(entry);
}

/*
 * Distribute the entries of both inputs to the partitions by some bits of the fingerprints,
 * and by the equality keys.  Deletes what the partitions had.
 */
void
join_partitions_make(JoinPartitions *partitions, JoinEntryFile *left, JoinEntryFile *right,
					 uint64 mask)
{
	join_partitions_close(partitions);
	distribute_entries(partitions, left, partitions->left, mask);
	distribute_entries(partitions, right, partitions->right, mask);
}

/*
 * Delete the files of all partitions.
 */
void
join_partitions_close(JoinPartitions *partitions)
{
	for (uint32 i = 0; i < partitions->n; i++)
	{
		join_entry_file_close(&partitions->left[i]);
		join_entry_file_close(&partitions->right[i]);
	}
}
