/*
 * Building the pages of a tree
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_BUILD_TREE_H
#define SIMHASH_BUILD_TREE_H

#include "access/genam.h"
#include "commands/progress.h"
#include "port/atomics.h"
#include "storage/sharedfileset.h"

#include "index/load/spool.h"
#include "index/tree/meta.h"

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

#endif							/* SIMHASH_BUILD_TREE_H */
