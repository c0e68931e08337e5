/*-------------------------------------------------------------------------
 *
 * pending_pairs.h
 *		Batches of pairs whose tuples are in temporary files
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PENDING_PAIRS_H
#define SIMHASH_PENDING_PAIRS_H

#include "join/store/tuples.h"

/* A left row and a right row whose fingerprints are within the radius. */
typedef struct JoinPair
{
	TupleLocation left;
	TupleLocation right;
	uint32		row;			/* number of the left row */
} JoinPair;

/*
 * Pairs.  The right tuples of some of them are in memory.
 */
typedef struct JoinBatch
{
	MemoryContext context;		/* context of the pairs */
	MemoryContext tuple_context;	/* context of the loaded tuples */
	Size		memory;			/* limit in bytes, for the pairs and for the loaded tuples */
	JoinPair   *pair;
	uint32		n;
	uint32		capacity;
	uint32		next;			/* index of the next pair to return */
	uint32		end;			/* end of the pairs whose right tuples are loaded
								 * (exclusive) */
} JoinBatch;

extern void join_batch_init(JoinBatch *batch, MemoryContext context, Size memory);
extern bool join_batch_is_full(const JoinBatch *batch);
extern void join_batch_add(JoinBatch *batch, TupleLocation left, TupleLocation right,
						   uint32 row);
extern void join_batch_sort(JoinBatch *batch);
extern const JoinPair *join_batch_next(JoinBatch *batch, JoinTuples *right);

#endif							/* SIMHASH_PENDING_PAIRS_H */
