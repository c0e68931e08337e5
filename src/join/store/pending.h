/*
 * Pairs that wait for tuples from temporary files
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PENDING_H
#define SIMHASH_PENDING_H

#include "join/store/tuples.h"

#define NO_ROW				PG_UINT32_MAX

/* A left row and a right row that the method has paired. */
typedef struct JoinPair
{
	TupleLocation left;
	TupleLocation right;
	uint32		row;			/* number of the left row */
	uint32		right_row;		/* number of the right row if the pair is to be offered in the
								 * other order, too, else NO_ROW */
	uint64		tag;			/* what the method passes on to verify().  Of several pairs of the
								 * same rows, only the one with the least tag may match. */
} JoinPair;

/*
 * Pending pairs, and the right tuples of those from `next` to `end`.
 */
typedef struct PendingPairs
{
	MemoryContext context;		/* context of the pairs */
	JoinTuples	tuples;			/* loaded tuples */
	Size		memory;			/* limit in bytes, for the pairs and for the loaded tuples */
	JoinPair   *pair;
	uint32		n;
	uint32		capacity;		/* once n reaches it, no more pairs may be added */
	uint32		next;			/* index of the next pair to return */
	uint32		end;			/* end of the pairs whose right tuples are loaded
								 * (exclusive) */
} PendingPairs;

extern void pending_init(PendingPairs *pending, MemoryContext context, Size memory);
extern void pending_add(PendingPairs *pending, const JoinPair *pair);
extern void pending_sort(PendingPairs *pending);
extern const JoinPair *pending_next(PendingPairs *pending, JoinTuples *right);

#endif							/* SIMHASH_PENDING_H */
