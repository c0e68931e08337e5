/*-------------------------------------------------------------------------
 *
 * join_partitions.h
 *		Partitions of the entries of two inputs, in temporary files
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_PARTITIONS_H
#define SIMHASH_JOIN_PARTITIONS_H

#include "corpus/join_plan.h"
#include "join/join_entries.h"

typedef struct JoinPartitions
{
	MemoryContext context;		/* context of the arrays and files */
	uint32		n;				/* number of partitions */
	int			nbits;			/* number of bits of a block that entries are partitioned
								 * by */
	JoinEntryFile *left;		/* left entries, by partition */
	JoinEntryFile *right;
} JoinPartitions;

extern void join_partitions_init(JoinPartitions *partitions, MemoryContext context, uint32 n);
extern void join_partitions_make(JoinPartitions *partitions, JoinEntryFile *left,
								 JoinEntryFile *right, uint64 mask);
extern void join_partitions_close(JoinPartitions *partitions);

#endif							/* SIMHASH_JOIN_PARTITIONS_H */
