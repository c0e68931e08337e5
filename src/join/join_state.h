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

/* Work of the next call. */
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
	RETURN_BATCH,				/* return the last pairs of the batch */
	RETURN_UNMATCHED,			/* return left rows without a match */
	JOIN_DONE
} JoinPhase;

/* An input of the join. */
typedef struct JoinInput
{
	PlanState  *plan;
	ExprState  *key;
	List	   *equal;			/* ExprStates of the equality keys */
	FmgrInfo   *hash;			/* hash functions of the equality keys */
	int			first_column;	/* index of its first column in the joined row, from 0 */
	int			ncolumns;
	TupleTableSlot *slot;		/* slot for a stored tuple */
	MemoryContext context;		/* context of the entries and tuples */
	JoinEntries entries;
	JoinTuples	tuples;
	Size		entry_size;		/* size of an entry in files */
	bool		keeps_tuples;	/* false if the join needs only the keys */
	uint32		nwritten;		/* number of loaded entries, the first ones, whose tuples are
								 * in the file */
	uint64		nrows;			/* number of rows kept, in the current chunk */
	SimHash	   *sample;			/* random sample of their fingerprints, of Min(nrows,
								 * INPUT_SAMPLE) elements */
	bool		done;			/* true if the last row has been read */
} JoinInput;

typedef struct SimHashJoinState
{
	CustomScanState css;		/* must be first */
	JoinSpec	spec;
	ExprState  *radius;
	ExprState  *clauses;		/* clauses that decide whether a pair of rows matches */
	Oid		   *collation;		/* collations of the equality keys */
	JoinInput	left;
	JoinInput	right;
	Size		memory;			/* limit for the join, in bytes */

	JoinPhase	phase;
	bool		matchable;		/* false if no row can have a match */
	bool		knows_radius;	/* true if the radius has been evaluated */
	uint8	   *matched;		/* bitmap of the left rows that have a match; NULL for an
								 * inner join */
	bool		partitioned;
	JoinPlan	plan;			/* plan of the blocks to partition by */
	int			block;			/* number of the block that the entries are partitioned by */
	JoinPartitions partitions;
	uint32		partition;		/* number of the next partition */
	JoinPairs	pairs;
	JoinValue  *left_value;		/* the current pair of values */
	JoinValue  *right_value;
	uint32		left_entry;		/* numbers of the current entries in these values */
	uint32		right_entry;
	TupleLocation loaded;		/* location of the left tuple in the joined row, or
								 * NO_TUPLE */
	JoinBatch	batch;			/* pairs whose tuples are in files */
	bool		uses_batch;		/* true if pairs are collected in the batch */
	bool		returns_batch;	/* true if pairs of the batch are being returned */
	JoinPair	pair;			/* the current pair, if the batch is not used */
	uint32		unmatched;		/* index of the next loaded left entry to return if it has
								 * no match */

	/* For EXPLAIN */
	double		npairs;			/* number of pairs of rows within the radius */
	int			nbatches;		/* number of pairs of chunks that were joined */
	Size		peak_memory;	/* maximum memory in use, in bytes */
	uint64		disk;			/* maximum size of the temporary files, in bytes */
} SimHashJoinState;

/*
 * Bytes of memory for an entry, both in the array of entries and as a value (JoinPairs).
 */
#define BYTES_PER_ENTRY \
	(sizeof(JoinEntry) + sizeof(JoinValue) + 2 * sizeof(SimHash) + sizeof(uint32))

/*
 * Parts of the memory, as divisors.  One part is for tuples of the right input, one for
 * the entries of each input while a chunk is joined, one for pairs of the batch, one for
 * tuples of the batch, and one for buffers of the partitions.  Together the parts
 * do not exceed the memory.
 */
#define TUPLES_PART			8
#define ENTRIES_PART		3.5
#define BATCH_PART			12
#define FILES_PART			8

/*
 * A chunk of the left input may always use the memory divided by this, even if the right
 * input leaves less.
 */
#define MIN_CHUNK_PART		4

/* Minimum size of the buffer of a partition, in bytes. */
#define MIN_BUFFER			2048

/* Number of partitions that is allowed even if their buffers exceed FILES_PART. */
#define MIN_PARTITIONS		8

/* Maximum number of fingerprints in the sample of an input. */
#define INPUT_SAMPLE		4096

/*
 * Maximum number of left rows that are partitioned at a time.  Further rows are joined
 * after them.
 */
#define MAX_LEFT_ROWS		PG_INT32_MAX

/*
 * Return true if the join returns left rows without a match.
 */
static inline bool
join_returns_unmatched(const SimHashJoinState *state)
{
	return state->spec.jointype == JOIN_LEFT || state->spec.jointype == JOIN_ANTI;
}

/*
 * Return true if one match of a left row is enough.
 */
static inline bool
join_needs_one_match(const SimHashJoinState *state)
{
	return state->spec.jointype == JOIN_SEMI || state->spec.jointype == JOIN_ANTI;
}

#endif							/* SIMHASH_JOIN_STATE_H */
