/*
 * CREATE INDEX by several processes: launching workers, gathering results
 *
 * The launch of workers and their start follow nbtsort.c.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "optimizer/optimizer.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "index/load/load.h"

/* Keys in the table of contents of the shared memory segment */
#define KEY_BUILD			UINT64CONST(0x51A5000000000001)
#define KEY_SCAN			UINT64CONST(0x51A5000000000002)
#define KEY_QUERY			UINT64CONST(0x51A5000000000003)

/*
 * The leader's state of a parallel build.  `context` and `snapshot` are in local memory.
 * The other pointers lead to shared memory.
 */
typedef struct Leader
{
	ParallelContext *context;
	Snapshot	snapshot;
	SharedBuild *shared;
	ParallelTableScanDesc scan;
} Leader;

PGDLLEXPORT void simhash_parallel_build_main(dsm_segment *seg, shm_toc *toc);

/*
 * Do the work of a parallel worker.  Follows _bt_parallel_build_main().
 */
void
simhash_parallel_build_main(dsm_segment *seg, shm_toc *toc)
{
	SharedBuild *shared = shm_toc_lookup(toc, KEY_BUILD, false);
	int			participant = ParallelWorkerNumber + 1;
	LOCKMODE	heap_lock = shared->concurrent ? ShareUpdateExclusiveLock : ShareLock;
	LOCKMODE	index_lock = shared->concurrent ? RowExclusiveLock : AccessExclusiveLock;
	Relation	heap;
	Relation	index;
	IndexInfo  *info;

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	pgstat_report_query_id(shared->query_id, false);

	/* the same locks that PostgreSQL's index.c has taken in the leader */
	heap = table_open(shared->heap, heap_lock);
	index = index_open(shared->index, index_lock);
	info = BuildIndexInfo(index);
	info->ii_Concurrent = shared->concurrent;
	SharedFileSetAttach(&shared->files, seg);

	InstrStartParallelQuery();
	build_participate(shared, shm_toc_lookup(toc, KEY_SCAN, false), participant, heap, index,
					  info);
	InstrEndParallelQuery(&shared->participant[participant].buffer_usage,
						  &shared->participant[participant].wal_usage);

	index_close(index, index_lock);
	table_close(heap, heap_lock);
}

/*
 * Allocate the shared memory, and set the leader's pointers to its parts.  Returns false
 * if the system grants no shared memory.
 */
static bool
allocate_shared(Leader *leader, Relation heap)
{
	ParallelContext *context = leader->context;
	shm_toc_estimator *estimator = &context->estimator;
	Size		build_size = offsetof(SharedBuild, participant) +
		(context->nworkers + 1) * sizeof(Participant);
	Size		scan_size = table_parallelscan_estimate(heap, leader->snapshot);
	Size		query_size = debug_query_string ? strlen(debug_query_string) + 1 : 0;

	shm_toc_estimate_chunk(estimator, build_size);
	shm_toc_estimate_chunk(estimator, scan_size);
	shm_toc_estimate_chunk(estimator, query_size);
	shm_toc_estimate_keys(estimator, 3);
	InitializeParallelDSM(context);
	if (context->seg == NULL)
		return false;

	leader->shared = shm_toc_allocate(context->toc, build_size);
	memset(leader->shared, 0, build_size);
	shm_toc_insert(context->toc, KEY_BUILD, leader->shared);
	leader->scan = shm_toc_allocate(context->toc, scan_size);
	shm_toc_insert(context->toc, KEY_SCAN, leader->scan);
	if (debug_query_string)
	{
		char	   *query = shm_toc_allocate(context->toc, query_size);

		memcpy(query, debug_query_string, query_size);
		shm_toc_insert(context->toc, KEY_QUERY, query);
	}
	return true;
}

/*
 * Begin a parallel build and launch its workers.  Returns false if there is no shared
 * memory, or if no worker was launched.  The caller must end it in either case.
 *
 * The leader attaches to the barrier before it launches workers.  So no worker can pass
 * the barrier before the leader arrives there.
 */
static bool
begin_parallel(Leader *leader, Relation heap, Relation index, IndexInfo *info,
			   const Design *design, int nworkers)
{
	SharedBuild *shared;

	EnterParallelMode();
	leader->context = CreateParallelContext("$libdir/simhash",
											"simhash_parallel_build_main",
											nworkers);

	/*
	 * As in a serial build, index all rows that any transaction may still see.  With
	 * SnapshotAny, the heap scan itself checks which rows these are.  A concurrent build
	 * has an MVCC snapshot, and indexes the rows that are visible to this snapshot.
	 */
	leader->snapshot = info->ii_Concurrent ?
		RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	if (!allocate_shared(leader, heap))
		return false;

	shared = leader->shared;
	shared->heap = RelationGetRelid(heap);
	shared->index = RelationGetRelid(index);
	shared->concurrent = info->ii_Concurrent;
	shared->query_id = pgstat_get_my_query_id();
	shared->design = *design;
	shared->npartitions = nworkers + 1;
	SharedFileSetInit(&shared->files, leader->context->seg);
	pg_atomic_init_u32(&shared->next_unit, 0);
	pg_atomic_init_u64(&shared->ndone, 0);
	for (int i = 0; i < design->ntables; i++)
	{
		pg_atomic_init_u32(&shared->tree[i].npartitions_left, shared->npartitions);
		pg_atomic_init_u32(&shared->tree[i].nleaves, 0);
	}
	table_parallelscan_initialize(heap, leader->scan, leader->snapshot);
	BarrierInit(&shared->scanned, 0);
	BarrierAttach(&shared->scanned);

	LaunchParallelWorkers(leader->context);
	if (leader->context->nworkers_launched == 0)
		return false;
	shared->nparticipants = leader->context->nworkers_launched + 1;
	shared->first_leaves = build_extend(index, design->ntables * shared->npartitions);
	ereport(DEBUG1,
			(errmsg_internal("building index \"%s\" with %d parallel workers",
							 RelationGetRelationName(index),
							 leader->context->nworkers_launched)));
	return true;
}

/*
 * Wait until the workers have finished, and gather the results of all participants.
 */
static void
finish_workers(Leader *leader, IndexInfo *info, TreeRoot *roots,
			   IndexBuildResult *result)
{
	SharedBuild *shared = leader->shared;

	/* after this call, the leader can read all data that the workers have written */
	WaitForParallelWorkersToFinish(leader->context);
	for (int i = 0; i <= shared->design.ntables; i++)
		roots[i] = shared->tree[i].root;
	result->heap_tuples = result->index_tuples = 0;
	for (int i = 0; i < shared->nparticipants; i++)
	{
		Participant *participant = &shared->participant[i];

		result->heap_tuples += participant->heap_tuples;
		result->index_tuples += participant->index_tuples;
		info->ii_BrokenHotChain |= participant->broken_hot_chain;
		if (i > 0)
			InstrAccumParallelQuery(&participant->buffer_usage, &participant->wal_usage);
	}
}

/*
 * Build all trees in parallel.  Sets roots[] to the roots of the trees, and the numbers
 * of rows in *result.  Returns false, and builds nothing, if the heap is empty or if
 * there are no workers, or if they could not do it.
 */
bool
build_in_parallel(Relation heap, Relation index, IndexInfo *info,
				  const Design *design, TreeRoot *roots,
				  IndexBuildResult *result)
{
	int			nworkers = build_parallel_workers(heap, index, info);
	Leader		leader = {0};
	bool		launched;

	if (nworkers == 0 || RelationGetNumberOfBlocks(heap) == 0)
		return false;
	/* REPACK (CONCURRENTLY) makes an index before its exclusion constraint, which workers need */
	if (index->rd_index->indisexclusion &&
		!OidIsValid(get_index_constraint(RelationGetRelid(index))))
		return false;

	launched = begin_parallel(&leader, heap, index, info, design, nworkers);
	if (launched)
	{
		build_participate(leader.shared, leader.scan, 0, heap, index, info);
		finish_workers(&leader, info, roots, result);
	}
	if (IsMVCCSnapshot(leader.snapshot))
		UnregisterSnapshot(leader.snapshot);
	/* this frees the shared memory and removes the temporary files */
	DestroyParallelContext(leader.context);
	ExitParallelMode();
	return launched;
}
