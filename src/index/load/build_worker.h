/*
 * CREATE INDEX by several processes, and the state that they share
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_BUILD_WORKER_H
#define SIMHASH_BUILD_WORKER_H

#include "access/relscan.h"
#include "executor/instrument.h"
#include "nodes/execnodes.h"
#include "storage/barrier.h"

#include "index/load/build_tree.h"

/*
 * Groups of rows.  Each group has its own files, because placeholders have a tree of
 * their own.
 */
typedef enum RowGroup
{
	ROWS_WITH_KEYS,
	ROWS_WITH_PLACEHOLDER
} RowGroup;

#define NGROUPS				(ROWS_WITH_PLACEHOLDER + 1)

/*
 * Results of a participant.  If the participant attached after the end of the scan, those
 * of its heap scan are all zero, and it has written no file of rows.
 */
typedef struct Participant
{
	/* results of the heap scan */
	double		heap_tuples;
	double		index_tuples;
	int64		nrows[NGROUPS]; /* number of rows in the file of each group.  A
								 * heap row has one for each of its keys, or one
								 * for its placeholder. */
	bool		broken_hot_chain;

	/* what a worker has used, set at its end */
	BufferUsage buffer_usage;
	WalUsage	wal_usage;
} Participant;

/* State of a tree that is built in partitions. */
typedef struct SharedTree
{
	pg_atomic_uint32 npartitions_left;
	pg_atomic_uint32 nleaves;	/* number of leaves in finished partitions */
	TreeRoot	root;
} SharedTree;

/* State of a parallel build, in shared memory. */
typedef struct SharedBuild
{
	/* constant, set before workers are launched */
	Oid			heap;
	Oid			index;
	bool		concurrent;
	uint64		query_id;
	Design		design;
	int			npartitions;	/* number of partitions of each tree, except the
								 * tree of placeholders */

	/* set by the leader before the end of the scan */
	int			nparticipants;	/* maximum number of participants: the leader
								 * and all launched workers */
	BlockNumber first_leaves;	/* first of the contiguous blocks that are the
								 * first leaves of the partitions, tree by tree */

	/* barrier at the end of the heap scan */
	Barrier		scanned;

	SharedFileSet files;
	pg_atomic_uint32 next_unit; /* number of the next unit of work (do_units) */
	pg_atomic_uint64 ndone;		/* number of entries written to the trees */
	SharedTree	tree[MAX_TREES];

	/*
	 * The leader, then the workers.  Each participant writes the results of its heap scan
	 * before it arrives at the barrier.
	 */
	Participant participant[FLEXIBLE_ARRAY_MEMBER];
} SharedBuild;

/* build_parallel.c */
extern bool build_in_parallel(Relation heap, Relation index, IndexInfo *info,
							  const Design *design, TreeRoot *roots,
							  IndexBuildResult *result);

/* build_worker.c */
extern void build_participate(SharedBuild *shared, ParallelTableScanDesc scan,
							  int participant, Relation heap, Relation index,
							  IndexInfo *info);

#endif							/* SIMHASH_BUILD_WORKER_H */
