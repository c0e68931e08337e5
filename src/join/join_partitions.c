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

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "join/join_partitions.h"

/* Number of entries that are read at a time. */
#define READ_TOGETHER		1024

/*
 * Initialize n empty partitions.  n must be a power of 2.
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
 * Distribute the entries of a file to partitions, by the sum of the hash value and of the
 * bits of the fingerprint in `mask`.
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
			uint32		partition = entry[i].hash + gather_bits(entry[i].fp, mask);

			join_entry_file_add(&target[partition & (partitions->n - 1)], &entry[i], 1,
								partitions->context);
		}
	}
	pfree(entry);
}

/*
 * Distribute the entries of both inputs to the partitions, by the equality keys and by
 * some of the most significant bits of the fingerprints in `mask`.  So tuples of a
 * partition by the first block are close to each other in the file.  Deletes the previous
 * contents of the partitions.
 *
 * Sets partitions->nbits.  Entries of the same partition whose hash values are equal agree
 * on this number of bits.
 */
void
join_partitions_make(JoinPartitions *partitions, JoinEntryFile *left, JoinEntryFile *right,
					 uint64 mask)
{
	partitions->nbits = Min(pg_popcount64(mask), pg_leftmost_one_pos32(partitions->n));
	while (pg_popcount64(mask) > partitions->nbits)
		mask &= mask - 1;
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
