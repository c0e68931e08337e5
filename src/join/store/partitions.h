/*-------------------------------------------------------------------------
 *
 * partitions.h
 *		Partitions of the entries of two inputs, in temporary files
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PARTITIONS_H
#define SIMHASH_PARTITIONS_H

#include "corpus/join_plan.h"
#include "join/match/band_pairs.h"

/* An input whose entries are partitioned. */
typedef struct PartitionedInput
{
	JoinEntryFile *source;		/* all entries */
	BufFile    *file;			/* all partitions, one after the other */
	JoinEntryFile *partition;	/* array of partitions */
	uint64	   *count;			/* number of entries of each partition by block 0, then by
								 * block 1 and so on */
} PartitionedInput;

typedef struct JoinPartitions
{
	MemoryContext context;		/* context of the arrays and files */
	uint32		n;				/* number of partitions, a power of 2 */
	Size		buffer_size;	/* maximum size of a partition's buffer */
	int			nblocks;		/* number of blocks or bands to partition by, at least 1 */
	const JoinBands *bands;		/* NULL if the entries are partitioned by blocks */
	uint64		mask[SIMHASH_BITS]; /* bits of each block that entries are partitioned by.
									 * Entries of the same partition whose hash values are
									 * equal agree on these bits. */
	PartitionedInput left;
	PartitionedInput right;
} JoinPartitions;

extern void join_partitions_init(JoinPartitions *partitions, MemoryContext context, uint32 n,
								 const JoinPlan *plan, const JoinBands *bands, int nbands,
								 Size memory, JoinEntryFile *left, JoinEntryFile *right);
extern void join_partitions_make(JoinPartitions *partitions, int block);
extern void join_partitions_close(JoinPartitions *partitions);

#endif							/* SIMHASH_PARTITIONS_H */
