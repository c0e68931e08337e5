/*-------------------------------------------------------------------------
 *
 * build_worker.c
 *		What each participant of a parallel CREATE INDEX does
 *
 * The participants, the leader and its workers, scan the heap together; each writes
 * the rows that it finds to a temporary file of its own.  When all have come to the
 * end, they build the trees, in units of a range of a tree's leaves: for each, all
 * files are read, and the rows in the range are sorted as in a serial build, with
 * a participant's share of the memory.  Whoever finishes the last range of a tree
 * builds the levels above.
 *
 * There are as many ranges as participants, of equal width: keys spread well.  Where
 * they do not, some units take longer, that is all.
 *
 * The rows are in files, not in shared memory, so that a build that does not
 * fit into memory needs no other way, and that one that does is not limited by
 * what the system grants for shared memory, which may be little in a container.
 * A row is 16 bytes, and mostly they are read from the kernel's cache, in a
 * fraction of the time of a sort.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/tableam.h"
#include "miscadmin.h"
#include "utils/backend_progress.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "index/load/build_worker.h"
#include "index/load/row_file.h"
#include "index/opclass_lookup.h"
#include "index/params.h"

/* A participant's scan of the heap. */
typedef struct ParticipantScan
{
	const Opclass *opclass;
	int32		params;
	RowFile		file[NGROUPS];
	double		nrows;
} ParticipantScan;

/* The files with a tree's links to leaves, being read. */
typedef struct LinkReader
{
	SharedBuild *shared;
	int			tree;
	int			range;			/* whose file is next */
	BufFile    *file;
	int64		left;			/* links in it */
} LinkReader;

static void
make_file_name(char *name, int participant, RowGroup group)
{
	snprintf(name, MAXPGPATH, "%s.%d",
			 group == ROWS_WITH_PLACEHOLDER ? "placeholders" : "keys", participant);
}

static void
scan_callback(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			  bool alive, void *arg)
{
	ParticipantScan *scan = arg;
	KeySet		keys;
	RowGroup	group;

	opclass_extract_value(scan->opclass, values[0], isnull[0], &keys);
	params_check(index, scan->opclass, scan->params, keys.params);
	group = keys.is_placeholder ? ROWS_WITH_PLACEHOLDER : ROWS_WITH_KEYS;
	for (int i = 0; i < keys.n; i++)
	{
		Entry		row = make_row(keys.key[i], tid);

		row_file_add(&scan->file[group], &row);
	}
	key_set_free(&keys);
	scan->nrows++;
}

/*
 * Scan a participant's share of the heap.
 */
static void
scan_heap(SharedBuild *shared, ParallelTableScanDesc parallel_scan,
		  int participant, Relation heap, Relation index, IndexInfo *info)
{
	Found	   *found = &shared->found[participant];
	ParticipantScan scan = {0};
	char		name[MAXPGPATH];

	for (RowGroup group = 0; group < NGROUPS; group++)
	{
		make_file_name(name, participant, group);
		scan.file[group].file = BufFileCreateFileSet(&shared->files.fs, name);
	}
	scan.opclass = opclass_of_index(index);
	scan.params = params_of_column(index, scan.opclass);
	build_report_phase(PHASE_SCAN);
	found->heap_tuples =
		table_index_build_scan(heap, index, info, true, !IsParallelWorker(),
							   scan_callback, &scan,
							   begin_parallel_scan(heap, parallel_scan));
	found->index_tuples = scan.nrows;
	found->broken_hot_chain = info->ii_BrokenHotChain;
	for (RowGroup group = 0; group < NGROUPS; group++)
	{
		found->nrows[group] = scan.file[group].nrows;
		BufFileExportFileSet(scan.file[group].file);
		BufFileClose(scan.file[group].file);
	}
}

static int64
count_rows(const SharedBuild *shared, RowGroup group)
{
	int64		nrows = 0;

	for (int i = 0; i < shared->nparticipants; i++)
		nrows += shared->found[i].nrows[group];
	return nrows;
}

/*
 * Read into the spool those rows of a group whose keys in a table are within bounds.
 */
static void
read_rows(SharedBuild *shared, RowGroup group, const PermutedTable *table,
		  uint64 min, uint64 max, Spool *spool)
{
	Entry	   *rows = palloc(ROW_FILE_BATCH * sizeof(Entry));
	char		name[MAXPGPATH];
	int			n;

	for (int i = 0; i < shared->nparticipants; i++)
	{
		RowFile		file = {.nrows = shared->found[i].nrows[group]};

		if (file.nrows == 0)
			continue;
		make_file_name(name, i, group);
		file.file = BufFileOpenFileSet(&shared->files.fs, name, O_RDONLY, false);
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
 * The smallest key of a range.
 */
static uint64
range_min(const SharedBuild *shared, int range)
{
	return range == 0 ? 0 : (PG_UINT64_MAX / shared->nranges + 1) * range;
}

static void
make_links_name(char *name, int tree, int range)
{
	snprintf(name, MAXPGPATH, "links.%d.%d", tree, range);
}

/*
 * Build a range of a tree's leaves; their links go to a file.
 */
static void
build_range(SharedBuild *shared, Relation index, int tree, int range, Spool *spool)
{
	const PermutedTable *table = &shared->design.table[tree];
	bool		is_last = range == shared->nranges - 1;
	uint64		min = range_min(shared, range);
	uint64		next_min = is_last ? 0 : range_min(shared, range + 1);
	LeafRange	leaves;
	char		name[MAXPGPATH];
	BufFile    *links;

	spool_reuse(spool);
	/* if it is the last one, up to the greatest of all keys */
	read_rows(shared, ROWS_WITH_KEYS, table, min, next_min - 1, spool);
	spool_begin(spool, table);

	leaves.low = entry_before(min);
	leaves.high = entry_before(next_min);
	leaves.block = shared->first_leaves + tree * shared->nranges + range;
	leaves.right = is_last ? InvalidBlockNumber : leaves.block + 1;
	make_links_name(name, tree, range);
	links = BufFileCreateFileSet(&shared->files.fs, name);
	pg_atomic_fetch_add_u32(&shared->tree[tree].nleaves,
							build_leaves(index, tree, &leaves, spool, links,
										 &shared->ndone));
	BufFileExportFileSet(links);
	BufFileClose(links);
}

/*
 * Give the link to the next leaf of a tree.
 */
static void
read_link(void *arg, LeafLink *link)
{
	LinkReader *reader = arg;
	char		name[MAXPGPATH];

	if (reader->file && reader->left == 0)
	{
		BufFileClose(reader->file);
		reader->file = NULL;
	}
	if (reader->file == NULL)
	{
		make_links_name(name, reader->tree, reader->range++);
		reader->file = BufFileOpenFileSet(&reader->shared->files.fs, name,
										  O_RDONLY, false);
		reader->left = BufFileSize(reader->file) / sizeof(LeafLink);
	}
	row_file_read_exact(reader->file, link, sizeof(LeafLink));
	reader->left--;
}

/*
 * All ranges of a tree are there: build the levels above.
 */
static void
finish_tree(SharedBuild *shared, Relation index, int tree)
{
	LinkReader	reader = {0};

	reader.shared = shared;
	reader.tree = tree;
	shared->tree[tree].root =
		build_upper_levels(index, tree, pg_atomic_read_u32(&shared->tree[tree].nleaves),
						   read_link, &reader);
	BufFileClose(reader.file);
}

/*
 * Build the tree of placeholders.
 */
static void
build_placeholders(SharedBuild *shared, Relation index, Spool *spool)
{
	int			tree = shared->design.ntables;
	const PermutedTable *table = &shared->design.table[tree];

	spool_reuse(spool);
	read_rows(shared, ROWS_WITH_PLACEHOLDER, table, 0, PG_UINT64_MAX, spool);
	spool_begin(spool, table);
	shared->tree[tree].root = build_tree(index, tree, spool, &shared->ndone);
}

/*
 * Work on units, as long as there are any that nobody else works on.  The first
 * one is the tree of placeholders, as it may be large; then come the ranges
 * of the others.
 */
static void
build_worker(SharedBuild *shared, Relation index)
{
	int			nunits = 1 + shared->design.ntables * shared->nranges;
	Spool	   *spool = spool_create(maintenance_work_mem / shared->nparticipants);
	int			unit;

	while ((unit = pg_atomic_fetch_add_u32(&shared->next_unit, 1)) < nunits)
	{
		int			tree = (unit - 1) / shared->nranges;

		if (unit == 0)
		{
			build_placeholders(shared, index, spool);
			continue;
		}
		build_range(shared, index, tree, (unit - 1) % shared->nranges, spool);
		if (pg_atomic_sub_fetch_u32(&shared->tree[tree].nranges_left, 1) == 0)
			finish_tree(shared, index, tree);
	}
	spool_free(spool);
}

/*
 * What all participants do.
 *
 * Who comes when the scan is over helps with the trees: nobody waits for a
 * worker that has not started yet, and one that never starts is not missed
 * before the end.
 */
void
build_participate(SharedBuild *shared, ParallelTableScanDesc scan, int participant,
				  Relation heap, Relation index, IndexInfo *info)
{
	/* the leader has attached before there was anybody else */
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
	build_worker(shared, index);
}
