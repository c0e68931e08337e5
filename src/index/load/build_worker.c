/*
 * The work of each participant of a parallel CREATE INDEX
 *
 * The participants are the leader and its workers.  Together they scan the heap.  Each
 * writes the rows that it finds to a temporary file of its own.  When all have reached the
 * end of the scan, they build the trees in units of work.  A unit is a partition of a
 * tree's leaves, which is a range of keys, or the whole tree of placeholders.  For a
 * partition, a participant reads the files of all participants.  It sorts the rows of the
 * partition as a serial build does, in its share of maintenance_work_mem.  The participant
 * that finishes the last partition of a tree builds the inner levels of the tree.
 *
 * A tree has one partition for the leader and one for each planned worker.  The partitions
 * have equal width, because keys are spread well.  If the keys are not spread well, or if
 * workers are missing, the build only takes longer.
 *
 * The rows are in files, not in shared memory.  So a build that does not fit into memory
 * needs no other algorithm, and the system's limit on shared memory does not limit it.  Usually
 * the files are read from the kernel's cache, in a fraction of the time that sorting takes.
 *
 * No participant waits for a worker that has not attached to the barrier.
 *
 *	- Partitions of a tree join without waiting.  The leader allocates the first leaf of
 *	  every partition before the scan ends.  The low keys of these leaves are known: a
 *	  key without a TID, which no entry equals.  So the last leaf of a partition knows
 *	  its right sibling and its high key.  A partition without rows is an empty leaf,
 *	  such as vacuum leaves.
 *	- Locks.  No participant reads a tree page.  They meet in the extension lock only,
 *	  which conflicts within a lock group, too.  Workers take the locks on table and
 *	  index of index.c again, as in nbtree.
 *	- WAL is written by the participant that fills the page.  Workers know from the
 *	  leader's list of files (RestorePendingSyncs) whether the index needs none.  The
 *	  leader writes the metapage last, when all workers have ended.  An error in one
 *	  participant ends all.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "utils/backend_progress.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "index/load/load.h"
#include "index/opclass.h"

/*
 * Return the name of a participant's file of rows.
 */
static char *
rows_name(int participant, RowGroup group)
{
	return psprintf("%s.%d", group == ROWS_WITH_PLACEHOLDER ? "placeholders" : "keys",
					participant);
}

/*
 * Add a key to its file, of a participant's files of the groups (an AddKey).
 */
static void
write_key(void *arg, bool is_placeholder, uint64 key, const ItemPointerData *tid)
{
	RowFile    *files = arg;
	Entry		row = make_entry(key, tid);

	row_file_add(&files[is_placeholder ? ROWS_WITH_PLACEHOLDER : ROWS_WITH_KEYS], &row);
}

/*
 * Scan this participant's part of the heap.  Writes the rows to the participant's files,
 * and stores the results of the scan in shared->participant.
 */
static void
scan_heap(SharedBuild *shared, ParallelTableScanDesc parallel_scan,
		  int participant, Relation heap, Relation index, IndexInfo *info)
{
	Participant *result = &shared->participant[participant];
	RowFile		files[NGROUPS] = {0};

	for (RowGroup group = 0; group < NGROUPS; group++)
		files[group].file = BufFileCreateFileSet(&shared->files.fs,
												 rows_name(participant, group));
	build_report_phase(PHASE_SCAN);
	result->heap_tuples = heap_scan_keys(heap, index, info,
										 params_of_column(index, opclass_of_index(index)),
										 !IsParallelWorker(),
										 begin_parallel_scan(heap, parallel_scan),
										 write_key, files, &result->index_tuples);
	result->broken_hot_chain = info->ii_BrokenHotChain;
	for (RowGroup group = 0; group < NGROUPS; group++)
	{
		result->nrows[group] = files[group].nrows;
		BufFileExportFileSet(files[group].file);
		BufFileClose(files[group].file);
	}
}

/*
 * Return the number of rows of a group in the files of all participants.  A row is an
 * entry here.
 */
static int64
count_rows(const SharedBuild *shared, RowGroup group)
{
	int64		nrows = 0;

	for (int i = 0; i < shared->nparticipants; i++)
		nrows += shared->participant[i].nrows[group];
	return nrows;
}

/*
 * Add the rows of a group to the spool, from the files of all participants.  Adds only
 * rows whose key in a permuted table is from min to max, both inclusive.
 */
static void
read_rows(SharedBuild *shared, RowGroup group, const PermutedTable *table,
		  uint64 min, uint64 max, Spool *spool)
{
	Entry	   *rows = palloc(ROW_FILE_BATCH * sizeof(Entry));
	int			n;

	for (int i = 0; i < shared->nparticipants; i++)
	{
		RowFile		file = {.nrows = shared->participant[i].nrows[group]};

		if (file.nrows == 0)
			continue;
		file.file = BufFileOpenFileSet(&shared->files.fs, rows_name(i, group), O_RDONLY,
									   false);
		while (row_file_read(&file, table, min, max, rows, &n))
		{
			for (int j = 0; j < n; j++)
				spool_add(spool, rows[j].key, &rows[j].tid);
		}
		BufFileClose(file.file);
	}
	pfree(rows);
}

/*
 * Return the inclusive lower bound of the keys of a partition.
 */
static uint64
partition_min(const SharedBuild *shared, int partition)
{
	return partition == 0 ? 0 : (PG_UINT64_MAX / shared->npartitions + 1) * partition;
}

/*
 * Build a partition of a tree's leaves.
 */
static void
build_partition(SharedBuild *shared, Relation index, int tree, int partition, Spool *spool)
{
	const PermutedTable *table = &shared->design.table[tree];
	bool		is_last = partition == shared->npartitions - 1;
	uint64		min = partition_min(shared, partition);
	uint64		next_min = is_last ? 0 : partition_min(shared, partition + 1);
	LeafPartition leaves;

	/* for the last partition, next_min - 1 wraps around to the greatest of all keys */
	read_rows(shared, ROWS_WITH_KEYS, table, min, next_min - 1, spool);
	spool_begin(spool, table);

	leaves.number = partition;
	leaves.low = entry_before(min);
	leaves.high = entry_before(next_min);
	leaves.block = shared->first_leaves + tree * shared->npartitions + partition;
	leaves.right = is_last ? InvalidBlockNumber : leaves.block + 1;
	pg_atomic_fetch_add_u32(&shared->tree[tree].nleaves,
							build_leaves(index, tree, &leaves, spool, &shared->files,
										 &shared->ndone));
}

/*
 * Do units of work until none are left.  A counter assigns each unit to one participant.
 * The first unit is the tree of placeholders, because that tree may be large.  The next
 * units are the partitions of the other trees, tree by tree.
 */
static void
do_units(SharedBuild *shared, Relation index)
{
	int			placeholders = shared->design.ntables;	/* tree of placeholders */
	const PermutedTable *table = &shared->design.table[placeholders];
	int			nunits = 1 + shared->design.ntables * shared->npartitions;
	int			unit;

	while ((unit = pg_atomic_fetch_add_u32(&shared->next_unit, 1)) < nunits)
	{
		int			tree = unit == 0 ? placeholders : (unit - 1) / shared->npartitions;
		Spool	   *spool = spool_create(maintenance_work_mem / shared->nparticipants);

		build_report_tree(tree, shared->design.ntables);
		if (unit == 0)
		{
			read_rows(shared, ROWS_WITH_PLACEHOLDER, table, 0, PG_UINT64_MAX, spool);
			spool_begin(spool, table);
			shared->tree[placeholders].root = build_tree(index, placeholders, spool,
														 &shared->ndone);
		}
		else
			build_partition(shared, index, tree, (unit - 1) % shared->npartitions, spool);
		spool_free(spool);
		if (unit > 0 && pg_atomic_sub_fetch_u32(&shared->tree[tree].npartitions_left, 1) == 0)
			shared->tree[tree].root =
				build_inner_levels(index, tree, pg_atomic_read_u32(&shared->tree[tree].nleaves),
								   shared->npartitions, &shared->files);
	}
}

/*
 * Do a participant's work: scan the heap, wait at the barrier, and build trees.
 *
 * A worker that attaches after the end of the scan only helps to build trees.  The build
 * notices only at its end if a worker never starts.
 */
void
build_participate(SharedBuild *shared, ParallelTableScanDesc scan, int participant,
				  Relation heap, Relation index, IndexInfo *info)
{
	/* the leader attached to the barrier before it launched workers */
	if (!IsParallelWorker() || BarrierAttach(&shared->scanned) == 0)
	{
		scan_heap(shared, scan, participant, heap, index, info);
		BarrierArriveAndWait(&shared->scanned, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	if (!IsParallelWorker())
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
									 count_rows(shared, ROWS_WITH_KEYS) *
									 shared->design.ntables +
									 count_rows(shared, ROWS_WITH_PLACEHOLDER));
	do_units(shared, index);
}
