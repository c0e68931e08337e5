/*-------------------------------------------------------------------------
 *
 * build_worker.h
 *		What the participants of a parallel CREATE INDEX share
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BUILD_WORKER_H
#define SIMHASH_BUILD_WORKER_H

#include "access/relscan.h"
#include "nodes/execnodes.h"
#include "storage/barrier.h"
#include "storage/sharedfileset.h"

#include "index/load/build_tree.h"

/* Placeholders are in a tree of their own, so they have files of their own, too. */
typedef enum RowGroup
{
	ROWS_WITH_KEYS,
	ROWS_WITH_PLACEHOLDER
} RowGroup;

#define NGROUPS				(ROWS_WITH_PLACEHOLDER + 1)

/*
 * What a participant found.  All zero if it came too late: then it has written
 * no file either.
 */
typedef struct Found
{
	double		heap_tuples;
	double		index_tuples;
	int64		nrows[NGROUPS]; /* of keys, not of the heap */
	bool		broken_hot_chain;
} Found;

/* A tree being built in ranges. */
typedef struct SharedTree
{
	pg_atomic_uint32 nranges_left;
	pg_atomic_uint32 nleaves;	/* of ranges that are finished */
	TreeRoot	root;
} SharedTree;

/* What participants share. */
typedef struct SharedBuild
{
	/* constant from before workers are launched */
	Oid			heap;
	Oid			index;
	bool		concurrent;
	uint64		query_id;
	Design		design;
	int			nranges;		/* of each tree of a table */

	/* set before the scan is over */
	int			nparticipants;	/* those that there may be */
	BlockNumber first_leaves;	/* of all ranges, tree by tree */

	/* passed when the scan is over */
	Barrier		scanned;

	SharedFileSet files;
	pg_atomic_uint32 next_unit; /* of work, see build_worker */
	pg_atomic_uint64 ndone;		/* entries written */
	SharedTree	tree[MAX_TREES];

	/* by number of participant: each writes its own, until the barrier */
	Found		found[FLEXIBLE_ARRAY_MEMBER];
} SharedBuild;

extern void build_participate(SharedBuild *shared, ParallelTableScanDesc scan,
							  int participant, Relation heap, Relation index,
							  IndexInfo *info);

#endif							/* SIMHASH_BUILD_WORKER_H */
