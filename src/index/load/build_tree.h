/*-------------------------------------------------------------------------
 *
 * build_tree.h
 *		Building the pages of a tree
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BUILD_TREE_H
#define SIMHASH_BUILD_TREE_H

#include "access/genam.h"
#include "commands/progress.h"
#include "port/atomics.h"
#include "storage/buffile.h"

#include "index/load/spool.h"
#include "index/tree/meta.h"

/* As pg_stat_progress_create_index shows them. */
typedef enum BuildPhase
{
	PHASE_SCAN = PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE + 1,
	PHASE_SORT,
	PHASE_WRITE
} BuildPhase;

/* The leaves of a tree with entries of one range. */
typedef struct LeafRange
{
	Entry		low;
	Entry		high;			/* exclusive; if there are any to the right */
	BlockNumber block;			/* the first leaf */
	BlockNumber right;			/* that of the next range, or InvalidBlockNumber */
} LeafRange;

/* A leaf, and its lower bound. */
typedef struct LeafLink
{
	Entry		bound;
	BlockNumber block;
} LeafLink;

typedef void (*LinkSource) (void *arg, LeafLink *link);

extern void build_report_phase(BuildPhase phase);
extern void build_write_page(Relation index, BlockNumber block, Page page);
extern TreeRoot build_tree(Relation index, int tree, Spool *spool,
						   pg_atomic_uint64 *done);
extern BlockNumber build_leaves(Relation index, int tree, const LeafRange *range,
								Spool *spool, BufFile *links,
								pg_atomic_uint64 *done);
extern TreeRoot build_upper_levels(Relation index, int tree, BlockNumber nleaves,
								   LinkSource next_link, void *arg);

#endif							/* SIMHASH_BUILD_TREE_H */
