/*
 * CREATE INDEX: the scan of the heap, the sort of its rows, and the build of trees, by the
 * file that defines them
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_LOAD_H
#define SIMHASH_LOAD_H

#include "access/genam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "commands/progress.h"
#include "executor/instrument.h"
#include "nodes/execnodes.h"
#include "port/atomics.h"
#include "storage/barrier.h"
#include "storage/buffile.h"
#include "storage/sharedfileset.h"

#include "index/tree/tree.h"

/* Groups of rows.  Each has its own spool or files, because placeholders have their own tree. */
typedef enum RowGroup
{
	ROWS_WITH_KEYS,
	ROWS_WITH_PLACEHOLDER
} RowGroup;

#define NGROUPS				(ROWS_WITH_PLACEHOLDER + 1)

/* --- heap_scan.c --------------------------------------------------------------- */

/* Add a key of a row, or if is_placeholder, the key of the row's placeholder. */
typedef void (*AddKey) (void *arg, bool is_placeholder, uint64 key, const ItemPointerData *tid);

extern double heap_scan_keys(Relation heap, Relation index, IndexInfo *info, int32 params,
							 bool progress, TableScanDesc scan, AddKey add, void *arg,
							 double *nindexed);

/* --- spool.c ------------------------------------------------------------------- */

/*
 * Rows in a temporary file.  Here, a row is an entry: the TID of a heap row and one of
 * the keys of the heap row, not permuted.  The caller opens and closes the file.
 */
typedef struct RowFile
{
	BufFile    *file;
	int64		nrows;
	int64		nread;			/* number of rows read since the file was opened or
								 * rewound */
} RowFile;

/* Maximum number of rows that row_file_read() reads at a time. */
#define ROW_FILE_BATCH	1024

extern void row_file_add(RowFile *file, const Entry *row);
extern bool row_file_read(RowFile *file, const PermutedTable *table, uint64 min,
						  uint64 max, Entry *rows, int *nrows);

typedef struct Spool Spool;

extern Spool *spool_create(int memory);
extern void spool_add(Spool *spool, SimHash fp, const ItemPointerData *tid);
extern int64 spool_count(const Spool *spool);
extern void spool_begin(Spool *spool, const PermutedTable *table);
extern bool spool_sort(Spool *spool);
extern bool spool_next(Spool *spool, Entry *entry);
extern void spool_free(Spool *spool);

/* --- build_tree.c -------------------------------------------------------------- */

/*
 * Phases of a build, as pg_stat_progress_create_index shows them.  The scan has the number of
 * its phase.  Later phases add BUILD_PHASES times the number of the tree, counted from 1, and
 * BUILD_PHASES * BUILD_TREES times the number of permuted tables.
 */
typedef enum BuildPhase
{
	PHASE_SCAN = PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE + 1,
	PHASE_SORT,
	PHASE_WRITE
} BuildPhase;

#define BUILD_PHASES	8
#define BUILD_TREES		64

/* A partition of the leaves of a tree.  One process builds it. */
typedef struct LeafPartition
{
	int			number;			/* number of the partition, from 0 */
	Entry		low;			/* low key of the first leaf */
	Entry		high;			/* high key of the last leaf, exclusive.  Unused
								 * if there is no leaf to the right. */
	BlockNumber block;			/* block of the first leaf, allocated already */
	BlockNumber right;			/* block of the first leaf of the next partition, or
								 * InvalidBlockNumber */
} LeafPartition;

extern void build_report_tree(int tree, int ntables);
extern void build_report_phase(BuildPhase phase);
extern BlockNumber build_tree_size(uint64 nentries);
extern BlockNumber build_extend(Relation index, BlockNumber n);
extern void build_write_page(Buffer buffer, Page page, bool log);
extern TreeRoot build_tree(Relation index, int tree, Spool *spool,
						   pg_atomic_uint64 *done);
extern BlockNumber build_leaves(Relation index, int tree, const LeafPartition *partition,
								Spool *spool, SharedFileSet *files,
								pg_atomic_uint64 *done);
extern TreeRoot build_inner_levels(Relation index, int tree, BlockNumber nleaves,
								   int npartitions, SharedFileSet *files);

/* --- build_parallel.c and build_worker.c --------------------------------------- */

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

#endif							/* SIMHASH_LOAD_H */
