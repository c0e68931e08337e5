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

#include "join/store/pending_pairs.h"
#include "join/join_memory.h"
#include "join/plan/join_node.h"
#include "join/match/distance_pairs.h"
#include "join/store/partitions.h"
#include "type/minhash_type.h"

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
	Size		entry_size;		/* size of an entry in files; for signatures, also in memory */
	bool		keeps_tuples;	/* false if the join needs only the keys */
	uint32		nwritten;		/* number of loaded entries, the first ones, whose tuples are
								 * in the file */
	JoinTuples	signatures;		/* signatures, if they are joined */
	Minhash    *signature;		/* signature of the row last read */
	int			signature_column;	/* index of the column of signatures if the tuples do not
									 * have it, else -1 */
	TupleTableSlot *narrow;		/* slot for a row without this column */
	uint64		nrows;			/* number of rows kept, in the current chunk */
	SimHash	   *sample;			/* random sample of their fingerprints, of Min(nrows,
								 * INPUT_SAMPLE) elements */
	bool		done;			/* true if the last row has been read */
} JoinInput;

/* Number of random numbers that hash a band: one for two minima, and two more. */
#define BAND_SALT			(2 + MINHASH_MAX_ROWS / 2)

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
	int			block;			/* number of the block or band that the entries are
								 * partitioned by */
	JoinPartitions partitions;
	uint32		partition;		/* number of the next partition */
	JoinPairs	pairs;			/* pairs of fingerprints */
	JoinBands	bands;			/* pairs of signatures */
	bool		has_other_params;	/* true if a signature has other parameters than the first */
	uint64		salt[BAND_SALT];	/* random numbers for the keys of bands */
	JoinEntry  *entry;			/* entry of the row last read */
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
	Size		peak_memory;	/* peak of the memory in use, in bytes */
	uint64		disk;			/* peak of the total size of the temporary
								 * files, in bytes */
} SimHashJoinState;

/* Maximum size of an entry, in bytes. */
#define MAX_ENTRY_SIZE		(sizeof(JoinEntry) + MINHASH_MAX_BANDS * sizeof(uint32))

/* Maximum number of fingerprints in the sample of an input. */
#define INPUT_SAMPLE		4096

/*
 * Maximum number of left rows that are partitioned at a time.  Further rows are joined
 * after them.
 */
#define MAX_LEFT_ROWS		PG_INT32_MAX

/*
 * Return true if the join pairs signatures.
 */
static inline bool
join_is_by_bands(const SimHashJoinState *state)
{
	return state->spec.method == JOIN_BY_BANDS;
}

/*
 * Return the bytes of memory for an entry while it is joined.
 */
static inline Size
join_bytes_per_entry(const SimHashJoinState *state)
{
	return join_memory_per_entry(state->spec.method, state->right.entry_size);
}

/*
 * Return the number of right entries that may be in memory.  If the inputs are
 * partitioned, so many left entries may be in memory, too.
 */
static inline Size
join_right_capacity(const SimHashJoinState *state)
{
	return join_memory_right_capacity(state->memory, state->spec.method, state->partitioned,
									  state->right.entry_size);
}

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
