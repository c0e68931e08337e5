/*-------------------------------------------------------------------------
 *
 * build.c
 *		CREATE INDEX: sorted rows into pages, bottom up
 *
 * Pages are filled in local memory and written through shared buffers; they
 * are logged all together at the end, as whole pages.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "access/xloginsert.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/backend_progress.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/handler.h"
#include "index/meta.h"
#include "index/page.h"
#include "index/spool.h"

/* Pages are filled so far, to leave room for what comes later. */
#define FILL_PERCENT	90

/* Levels of a tree: far more than 2^32 pages can have. */
#define MAX_LEVELS		16

/* The page of a level that is being filled. */
typedef struct BuildLevel
{
	BlockNumber block;
	Entry		bound;			/* its lower bound */
	PGAlignedBlock page;
} BuildLevel;

/* A tree that is being built. */
typedef struct TreeBuild
{
	Relation	index;
	int			tree;
	int			nlevels;
	BuildLevel *level[MAX_LEVELS];
} TreeBuild;

/* A build, as the scan of the heap sees it. */
typedef struct Build
{
	Spool	   *rows;
	Spool	   *nulls;
	double		nindexed;
} Build;

enum BuildPhase
{
	PHASE_SCAN = PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE + 1,
	PHASE_SORT,
	PHASE_WRITE,
	PHASE_LOG
};

/* Entries written between reports of progress, and looks for interrupts */
#define REPORT_INTERVAL	4096

/*
 * ambuildphasename
 */
char *
simhash_buildphasename(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case PHASE_SCAN:
			return "scanning table";
		case PHASE_SORT:
			return "sorting entries";
		case PHASE_WRITE:
			return "writing trees";
		case PHASE_LOG:
			return "writing WAL";
		default:
			return NULL;
	}
}

static void
report_phase(int phase)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, phase);
}

/*
 * Extend the index by a page, to be written later.
 */
static BlockNumber
allocate_block(Relation index)
{
	Buffer		buffer = page_new_buffer(index);
	BlockNumber block = BufferGetBlockNumber(buffer);

	UnlockReleaseBuffer(buffer);
	return block;
}

static void
write_page(Relation index, BlockNumber block, Page page)
{
	Buffer		buffer = ReadBuffer(index, block);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
}

static void
start_page(TreeBuild *build, int level, BlockNumber block)
{
	build->level[level]->block = block;
	page_init(build->level[level]->page.data, build->tree, level);
}

static void
add_level(TreeBuild *build)
{
	build->level[build->nlevels] = palloc(sizeof(BuildLevel));
	build->level[build->nlevels]->bound = entry_before(0);
	build->nlevels++;
	start_page(build, build->nlevels - 1, allocate_block(build->index));
}

static void add_entry(TreeBuild *build, int at, const Entry *entry, BlockNumber child);

/*
 * The page of a level is full, or the last one: write it, and put its link
 * into the level above.
 */
static void
finish_page(TreeBuild *build, int at)
{
	BuildLevel *level = build->level[at];
	Page		page = level->page.data;

	if (at == 0)
		TreePageGetOpaque(page)->nsorted = page_nentries(page);
	write_page(build->index, level->block, page);
	add_entry(build, at + 1, &level->bound, level->block);
}

/*
 * Append an entry to a level, above the leaves with the child that it is the
 * bound of.
 */
static void
add_entry(TreeBuild *build, int at, const Entry *entry, BlockNumber child)
{
	BuildLevel *level;
	Page		page;

	if (at == build->nlevels)
		add_level(build);
	level = build->level[at];
	page = level->page.data;
	if (page_nentries(page) >= page_max_entries(page) * FILL_PERCENT / 100)
	{
		BlockNumber next = allocate_block(build->index);

		TreePageGetOpaque(page)->right = next;
		page_set_high(page, entry);
		finish_page(build, at);
		start_page(build, at, next);
		level->bound = *entry;
	}
	page_append(page, entry, child);
}

/*
 * Write the last page of each level.  The one that has no level above it is
 * the root.
 */
static TreeRoot
finish_tree(TreeBuild *build)
{
	TreeRoot	root;
	int			at = 0;

	while (at < build->nlevels - 1)
		finish_page(build, at++);
	root.block = build->level[at]->block;
	root.level = at;
	if (at == 0)
		TreePageGetOpaque(build->level[at]->page.data)->nsorted =
			page_nentries(build->level[at]->page.data);
	write_page(build->index, root.block, build->level[at]->page.data);

	for (int i = 0; i < build->nlevels; i++)
		pfree(build->level[i]);
	return root;
}

/*
 * Build the tree of the spool's table that is sorted; counts entries in *done.
 */
static TreeRoot
build_tree(Relation index, int tree, Spool *spool, int64 *done)
{
	TreeBuild	build = {0};
	Entry		entry;

	build.index = index;
	build.tree = tree;
	add_level(&build);
	while (spool_next(spool, &entry))
	{
		add_entry(&build, 0, &entry, InvalidBlockNumber);
		if (++*done % REPORT_INTERVAL == 0)
		{
			CHECK_FOR_INTERRUPTS();
			pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, *done);
		}
	}
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, *done);
	return finish_tree(&build);
}

static void
build_callback(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			   bool alive, void *arg)
{
	Build	   *build = arg;

	if (isnull[0])
		spool_add(build->nulls, 0, tid);
	else
		spool_add(build->rows, DatumGetSimHash(values[0]), tid);
	build->nindexed++;
}

/*
 * Build all the trees, and the metapage.
 */
static void
build_trees(Relation index, const Design *design, const Build *build)
{
	TreeRoot	roots[MAX_TREES];
	PGAlignedBlock meta;
	int64		done = 0;

	/* the metapage has to be the first page, though it is written last */
	if (allocate_block(index) != META_BLOCK)
		elog(ERROR, "index \"%s\" is not empty", RelationGetRelationName(index));

	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 build->nindexed * design->ntables);
	for (int i = 0; i < design->ntables; i++)
	{
		report_phase(PHASE_SORT);
		spool_sort(build->rows, i);
		report_phase(PHASE_WRITE);
		roots[i] = build_tree(index, i, build->rows, &done);
	}
	spool_sort(build->nulls, 0);
	roots[design->ntables] = build_tree(index, design->ntables, build->nulls, &done);

	meta_init(meta.data, design, roots);
	write_page(index, META_BLOCK, meta.data);
}

/*
 * ambuild
 */
IndexBuildResult *
simhash_build(Relation heap, Relation index, struct IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	DesignOptions options = options_design(index);
	Design		design;
	Design		null_design;
	Build		build = {0};

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));

	design_init(&design, &options);
	null_design = design;
	null_design.ntables = 1;
	/* an eighth of the memory for the NULLs, which mostly are few */
	build.rows = spool_create(&design, maintenance_work_mem / 8 * 7);
	build.nulls = spool_create(&null_design, maintenance_work_mem / 8);

	report_phase(PHASE_SCAN);
	result->heap_tuples = table_index_build_scan(heap, index, info, true, true,
												 build_callback, &build, NULL);
	result->index_tuples = build.nindexed;

	build_trees(index, &design, &build);
	spool_free(build.rows);
	spool_free(build.nulls);

	if (RelationNeedsWAL(index))
	{
		report_phase(PHASE_LOG);
		log_newpage_range(index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(index),
						  true);
	}
	return result;
}

/*
 * Write and log a page of the initialization fork, which is logged though the
 * relation is not.
 */
static void
write_init_page(Relation index, Page page)
{
	Buffer		buffer = ReadBufferExtended(index, INIT_FORKNUM, P_NEW, RBM_NORMAL, NULL);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/*
 * ambuildempty: the metapage, and an empty leaf for each tree
 */
void
simhash_buildempty(Relation index)
{
	DesignOptions options = options_design(index);
	Design		design;
	TreeRoot	roots[MAX_TREES];
	PGAlignedBlock page;

	design_init(&design, &options);
	for (int i = 0; i <= design.ntables; i++)
	{
		roots[i].block = META_BLOCK + 1 + i;
		roots[i].level = 0;
	}
	meta_init(page.data, &design, roots);
	write_init_page(index, page.data);
	for (int i = 0; i <= design.ntables; i++)
	{
		page_init(page.data, i, 0);
		write_init_page(index, page.data);
	}
}
