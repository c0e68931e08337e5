/*
 * A similarity join by several processes
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_JOIN_PARALLEL_H
#define SIMHASH_JOIN_PARALLEL_H

#include "join/exec/join_state.h"

struct Tuplestorestate;
struct ParallelContext;

typedef struct JoinShared JoinShared;

/* What a participant in a parallel join has of its own. */
struct JoinParallel
{
	JoinShared *shared;			/* in shared memory */
	struct ParallelContext *context;	/* of the leader; NULL in a worker */
	int			participant;	/* number of this participant; that of the leader is 0 */
	struct Tuplestorestate *kept;	/* rows of the result to return once partitions have been
									 * written; NULL if there are none */
	SharedArenas *arenas;
	EntryReader *left_source;	/* parts of a partition, by participant */
	EntryReader *right_source;
};

extern Size join_parallel_estimate(CustomScanState *css, struct ParallelContext *context);
extern void join_parallel_init(CustomScanState *css, struct ParallelContext *context,
							   void *coordinate);
extern void join_parallel_reinit(CustomScanState *css, struct ParallelContext *context,
								 void *coordinate);
extern void join_parallel_attach(CustomScanState *css, shm_toc *toc, void *coordinate);
extern void join_parallel_shutdown(CustomScanState *css);
extern void join_parallel_reset(SimHashJoinState *state);
extern void join_parallel_begin(SimHashJoinState *state);
extern void join_parallel_build(SimHashJoinState *state);
extern TupleTableSlot *join_parallel_return_kept(SimHashJoinState *state);
extern bool join_parallel_next_partition(SimHashJoinState *state);
extern bool join_parallel_returns_unmatched(SimHashJoinState *state);

#endif							/* SIMHASH_JOIN_PARALLEL_H */
