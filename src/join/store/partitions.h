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
	JoinEntryFile *source;		/* all entries; NULL if the join has a single input */
	BufFile    *file;			/* all partitions, one after the other */
	JoinEntryFile *partition;	/* array of partitions */
	uint64	   *count;			/* number of entries of each partition in round 0, then in
								 * round 1 and so on */
} PartitionedInput;

typedef struct JoinPartitions
{
	MemoryContext context;		/* context of the arrays and files */
	uint32		n;				/* number of partitions, a power of 2 */
	Size		buffer_size;	/* maximum size of a partition's buffer, in bytes; an entry
								 * fits in any case */
	int			nrounds;		/* at least 1 */
	PartitionFunction number_of;
	const void *arg;			/* argument of number_of() */
	PartitionedInput left;
	PartitionedInput right;
} JoinPartitions;

extern uint32 join_partitions_max(Size memory);
extern void join_partitions_init(JoinPartitions *partitions, MemoryContext context, uint32 n,
								 int nrounds, PartitionFunction number_of, const void *arg,
								 Size memory, JoinEntryFile *left, JoinEntryFile *right);
extern void join_partitions_make(JoinPartitions *partitions, int round);
extern void join_partitions_close(JoinPartitions *partitions);

#endif							/* SIMHASH_PARTITIONS_H */
