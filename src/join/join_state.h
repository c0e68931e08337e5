/*-------------------------------------------------------------------------
 *
 * join_state.h
 *		State of a similarity join
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_STATE_H
#define SIMHASH_JOIN_STATE_H

#include "nodes/execnodes.h"

#include "join/join_batch.h"
#include "join/join_node.h"
#include "join/join_pairs.h"
#include "join/join_partitions.h"

/* What the next call does. */
typedef enum JoinPhase
{
	BEGIN_JOIN,					/* read the right input */
	BEGIN_CHUNK,
	READ_LEFT,					/* read a chunk of the left input, or all of it */
	NEXT_BLOCK,					/* partition by the next block */
	NEXT_PARTITION,
	NEXT_LEFT_CHUNK,
	NEXT_RIGHT_CHUNK,
	RETURN_MATCHES,
	RETURN_BATCH,				/* the last pairs of the batch */
	RETURN_UNMATCHED,			/* left rows without a match */
	JOIN_DONE
} JoinPhase;

/* An input of the join. */
typedef struct JoinInput
{
	PlanState  *plan;
	ExprState  *key;
	List	   *equal;			/* ExprStates of the equality keys */
	FmgrInfo   *hash;			/* their hash functions */
	int			first_column;	/* of the joined row */
	int			ncolumns;
	TupleTableSlot *slot;		/* a stored tuple */
	MemoryContext context;		/* of the entries and tuples */
	JoinEntries entries;
	JoinTuples	tuples;
	bool		keeps_tuples;	/* false if only the keys are needed */
	uint64		nrows;			/* number of rows kept */
	SimHash	   *sample;			/* a random sample of their fingerprints */
	bool		done;			/* has the last row been read? */
} JoinInput;

typedef struct SimHashJoinState
{
	CustomScanState css;		/* must be first */
	JoinSpec	spec;
	ExprState  *radius;
	ExprState  *clauses;		/* decide whether a pair of rows matches */
	Oid		   *collation;		/* of the equality keys */
	JoinInput	left;
	JoinInput	right;
	Size		memory;			/* limit in bytes */

	JoinPhase	phase;
	bool		matchable;		/* false if no row can have a match */
	bool		knows_radius;	/* has the radius been evaluated? */
	uint8	   *matched;		/* a bit for each left row: has a match been found? */
	bool		partitioned;
	JoinPlan	plan;			/* of partitions */
	int			block;			/* the block that partitions are made by */
	JoinPartitions partitions;
	uint32		partition;		/* the next one */
	JoinPairs	pairs;
	JoinValue  *left_value;		/* the current pair of values */
	JoinValue  *right_value;
	uint32		left_entry;		/* the current entries of these */
	uint32		right_entry;
	TupleLocation loaded;		/* the left tuple in the joined row, or NO_TUPLE */
	JoinBatch	batch;			/* pairs whose tuples are in files */
	bool		uses_batch;		/* are pairs collected in the batch? */
	bool		returns_batch;	/* are its pairs being returned? */
	JoinPair	pair;			/* the current pair, without a batch */
	uint32		unmatched;		/* next loaded left entry to return if it has no match */

	/* For EXPLAIN */
	double		npairs;			/* number of pairs of rows within the radius */
	int			nbatches;		/* number of pairs of chunks joined */
	Size		peak_memory;	/* in bytes */
	uint64		disk;			/* bytes in temporary files */
} SimHashJoinState;

/*
 * Bytes of memory for each entry: in the array of entries, and as a value of its own.
 */
#define BYTES_PER_ENTRY \
	(sizeof(JoinEntry) + sizeof(JoinValue) + 2 * sizeof(SimHash) + sizeof(uint32))

/*
 * Parts of the memory, as divisors of it: tuples of the right input, entries of either input
 * while a chunk is joined, pairs of the batch and tuples of the batch, buffers of the
 * partitions' files.  They add up to the memory.
 */
#define TUPLES_PART			8
#define ENTRIES_PART		3.5
#define BATCH_PART			12
#define FILES_PART			8

/*
 * A chunk of the left input may use one of so many parts of the memory, even if the right
 * input needs more than the rest.
 */
#define MIN_CHUNK_PART		4

/* Number of partitions that are allowed however little memory there is. */
#define MIN_PARTITIONS		8

/* Number of fingerprints in the sample of an input. */
#define INPUT_SAMPLE		4096

/* Maximum number of left rows in partitions.  Further rows are joined after them. */
#define MAX_LEFT_ROWS		PG_INT32_MAX

/*
 * Return true if the join returns left rows without a match.
 */
static inline bool
join_returns_unmatched(const SimHashJoinState *state)
{
	return state->spec.jointype == JOIN_LEFT || state->spec.jointype == JOIN_ANTI;
}

#endif							/* SIMHASH_JOIN_STATE_H */
