/*-------------------------------------------------------------------------
 *
 * join_partitions.c
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

#include "common/hashfn.h"
#include "miscadmin.h"

#include "join/join_partitions.h"

/* Number of entries that are read at a time. */
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
 * Return the bits of a fingerprint that are set in a mask, moved together into the low
 * bits.
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
 * Distribute the entries of a file to partitions.  Combines the hash value of each entry,
 * which is that of its equality keys, with the bits of the fingerprint in `mask`.  If
 * there are enough partitions, equal keys and different bits lead to different partitions.
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
 * Distribute the entries of both inputs to the partitions, by the equality keys and by the
 * bits of the fingerprints in `mask`.  Deletes the previous contents of the partitions.
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
