/*
 * Partitions of the entries of two inputs, in temporary files
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PARTITIONS_H
#define SIMHASH_PARTITIONS_H

#include "join/store/entries.h"

/* An input whose entries are partitioned. */
typedef struct PartitionedInput
{
	EntryReader *source;		/* reader of all entries; NULL if the join has a single input, or if
								 * entries are written to their partitions when they are made */
	JoinTuples	blocks;			/* of the partitions */
	EntryReader *partition;		/* readers of the partitions of the current round */
} PartitionedInput;

typedef struct JoinPartitions
{
	MemoryContext context;		/* context of the partitions of a round */
	uint32		n;				/* number of partitions, a power of 2 */
	int			nrounds;		/* at least 1 */
	PartitionFunction number_of;
	const void *arg;			/* argument of number_of() */
	Size		memory;			/* maximum size of the blocks that are being filled, in bytes */
	PartitionedInput left;
	PartitionedInput right;
} JoinPartitions;

extern uint32 join_partitions_max(Size memory);
extern void join_partitions_init(JoinPartitions *partitions, MemoryContext context, uint32 n,
								 int nrounds, PartitionFunction number_of, const void *arg,
								 Size memory, EntryReader *left, EntryReader *right);
extern void join_partitions_make(JoinPartitions *partitions, int round);
extern void join_partitions_close(JoinPartitions *partitions);

#endif							/* SIMHASH_PARTITIONS_H */
