/*
 * Building the pages of a tree from sorted entries, bottom up
 *
 * Pages are filled in local memory.  A full page is written through shared buffers and
 * logged as a whole.  The build does not change a page after it has written it.
 *
 * Several processes may build the leaves of one tree.  The tree is then divided into
 * partitions of keys.  For each partition, one process builds the chain of leaves.  The
 * process that finishes the last partition builds the inner levels.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "storage/lmgr.h"
#include "utils/backend_progress.h"
#include "utils/rel.h"

#include "index/load/load.h"

/* Percentage of a page that a build fills.  Later insertions use the free space. */
#define FILL_PERCENT	90
#define LEAF_FILL		(MAX_LEAF_ENTRIES * FILL_PERCENT / 100)
#define INNER_FILL		(MAX_INNER_ENTRIES * FILL_PERCENT / 100)

/* Maximum number of levels of a tree.  A tree of 2^32 pages has far fewer levels. */
#define MAX_LEVELS		16

/*
 * Number of blocks to allocate at a time.  With this number, processes that build the
 * same index do not wait for each other for every page, and the pages of a tree stay
 * together.
 */
#define EXTEND_BLOCKS	128

/*
 * Maximum number of pages added at a time.  PostgreSQL pins a buffer for each page, and
 * adds fewer pages if it cannot pin that many.
 */
#define EXTEND_TOGETHER	64

/*
 * Number of entries to write between two progress reports.  Also the number of entries or
 * leaves between two checks for interrupts.
 */
#define REPORT_INTERVAL	4096

/* The page of a level that is being filled, and its block. */
typedef struct BuildLevel
{
	BlockNumber block;
	PGAlignedBlock page;
} BuildLevel;

/* State of a process that builds a tree, a partition of its leaves, or its inner levels. */
typedef struct TreeBuild
{
	Relation	index;
	int			tree;

	/*
	 * The blocks from next_block to end_block (exclusive) are allocated, but not used
	 * yet.  to_allocate more blocks are still to be allocated.
	 */
	BlockNumber next_block;
	BlockNumber end_block;
	BlockNumber to_allocate;

	/*
	 * file for the downlinks to leaves, as PageItems, or NULL to add downlinks to the parent
	 * level
	 */
	BufFile    *downlinks;

	int			nlevels;
	BuildLevel *level[MAX_LEVELS];	/* level[0] is NULL if only inner levels are
									 * built */
} TreeBuild;

/*
 * Number to add to each phase but PHASE_SCAN before it is reported.  It tells the tree
 * (build_report_tree).
 */
static int	reported_tree;

/*
 * Set the tree that the next phases are of, among ntables permuted tables and the tree of
 * placeholders.
 */
void
build_report_tree(int tree, int ntables)
{
	reported_tree = BUILD_PHASES * (tree + 1 + BUILD_TREES * ntables);
}

/*
 * Report the phase of the build.  pg_stat_progress_create_index shows the phase of the
 * leader, not of workers.
 */
void
build_report_phase(BuildPhase phase)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 phase == PHASE_SCAN ? phase : phase + reported_tree);
}

/*
 * Return the number of pages of a level with nentries entries, of which `fill` fit on a
 * page.  A level without entries has one page.
 */
static BlockNumber
level_size(uint64 nentries, int fill)
{
	return Max(1, (nentries + fill - 1) / fill);
}

/*
 * Return the number of inner pages above nleaves leaves.
 */
static BlockNumber
count_inner_pages(BlockNumber nleaves)
{
	BlockNumber sum = 0;

	for (BlockNumber n = nleaves; n > 1;)
	{
		n = level_size(n, INNER_FILL);
		sum += n;
	}
	return sum;
}

/*
 * Return the number of pages that a build makes for a tree of nentries entries.
 */
BlockNumber
build_tree_size(uint64 nentries)
{
	BlockNumber nleaves = level_size(nentries, LEAF_FILL);

	return nleaves + count_inner_pages(nleaves);
}

/*
 * Extend the index by n contiguous pages, all zeros.  Returns the first block.
 *
 * The extension lock is needed even if the index is invisible to other transactions,
 * because several parallel workers may build the index.  The lock conflicts between the
 * members of a lock group, too.  It is held until all n pages exist, because PostgreSQL
 * may add fewer pages at a time than requested.
 */
BlockNumber
build_extend(Relation index, BlockNumber n)
{
	BlockNumber first = InvalidBlockNumber;
	Buffer		buffers[EXTEND_TOGETHER];

	LockRelationForExtension(index, ExclusiveLock);
	while (n > 0)
	{
		uint32		extended;
		BlockNumber block = extend_relation(index, Min(n, EXTEND_TOGETHER), buffers,
											&extended);

		if (first == InvalidBlockNumber)
			first = block;
		for (uint32 i = 0; i < extended; i++)
			ReleaseBuffer(buffers[i]);
		n -= extended;
	}
	UnlockRelationForExtension(index, ExclusiveLock);
	return first;
}

/*
 * Return a block for a page that will be written later.  The block is allocated, but not
 * initialized.
 */
static BlockNumber
allocate_block(TreeBuild *build)
{
	if (build->next_block == build->end_block)
	{
		BlockNumber n = Min(build->to_allocate, EXTEND_BLOCKS);

		/* to_allocate should suffice.  If it does not, extend by one block at a time. */
		Assert(n > 0);
		build->to_allocate -= n;
		n = Max(n, 1);
		build->next_block = build_extend(build->index, n);
		build->end_block = build->next_block + n;
	}
	return build->next_block++;
}

/*
 * Write a page to a pinned buffer, and log it if `log` is true.  Holds an exclusive lock
 * on the buffer while it writes, then unpins it.
 */
void
build_write_page(Buffer buffer, Page page, bool log)
{
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	if (log)
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/*
 * Start a new page of a level, in local memory.  `low` is the low key of the page.
 */
static void
start_page(TreeBuild *build, int level, BlockNumber block, const Entry *low)
{
	build->level[level]->block = block;
	page_init(build->level[level]->page.data, build->tree, level, low);
}

/*
 * Add a level to the tree, and start its first page.  `low` is the low key of the page.
 */
static void
add_level(TreeBuild *build, const Entry *low)
{
	build->level[build->nlevels] = palloc(sizeof(BuildLevel));
	start_page(build, build->nlevels++, allocate_block(build), low);
}

static void add_entry(TreeBuild *build, int at, const Entry *entry, BlockNumber child);

/*
 * Write the current page of a level.
 */
static void
write_level(TreeBuild *build, int at)
{
	Page		page = build->level[at]->page.data;

	if (at == 0)
		TreePageGetOpaque(page)->nsorted = page_nentries(page);
	build_write_page(ReadBuffer(build->index, build->level[at]->block), page,
					 RelationNeedsWAL(build->index));
}

/*
 * Write the current page of a level.  The page is full, or it is the last page of the
 * level.  Then add its downlink to the parent level, or to the file of downlinks.
 */
static void
finish_page(TreeBuild *build, int at)
{
	BuildLevel *level = build->level[at];
	Entry		low = page_low_key(level->page.data);

	write_level(build, at);
	if (build->downlinks)
	{
		PageItem	downlink;

		memset(&downlink, 0, sizeof(downlink));
		downlink.entry = low;
		downlink.child = level->block;
		BufFileWrite(build->downlinks, &downlink, sizeof(downlink));
	}
	else
		add_entry(build, at + 1, &low, level->block);
}

/*
 * Append an entry to level `at`.  If the current page of the level is full, first
 * finishes this page and starts its right sibling.  On an inner level, the entry is the
 * low key of `child`.  On a leaf, `child` is not used.
 */
static void
add_entry(TreeBuild *build, int at, const Entry *entry, BlockNumber child)
{
	BuildLevel *level;
	Page		page;

	if (at == build->nlevels)
		add_level(build, &lowest_entry);
	level = build->level[at];
	page = level->page.data;
	if (page_nentries(page) == (at == 0 ? LEAF_FILL : INNER_FILL))
	{
		BlockNumber next = allocate_block(build);

		TreePageGetOpaque(page)->right = next;
		page_set_high_key(page, entry);
		finish_page(build, at);
		start_page(build, at, next, entry);
	}
	page_append(page, entry, child);
}

/*
 * Write the last page of each level, and free the levels.  Returns the topmost page,
 * which is the root.
 */
static TreeRoot
finish_levels(TreeBuild *build)
{
	TreeRoot	root;
	int			at = build->level[0] ? 0 : 1;

	while (at < build->nlevels - 1)
		finish_page(build, at++);
	root.block = build->level[at]->block;
	root.level = at;
	write_level(build, at);
	for (int i = build->level[0] ? 0 : 1; i < build->nlevels; i++)
		pfree(build->level[i]);
	return root;
}

/*
 * Add to the number of entries that all processes have written, and report the sum as
 * progress.
 */
static void
report_done(pg_atomic_uint64 *done, int nentries)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
								 pg_atomic_add_fetch_u64(done, nentries));
}

/*
 * Add all entries of the spool to the leaves.  *done counts the entries that all
 * processes have written.  Checks for interrupts.
 */
static void
add_entries(TreeBuild *build, Spool *spool, pg_atomic_uint64 *done)
{
	Entry		entry;
	int			unreported = 0;

	for (;;)
	{
		bool		more;

		build_report_phase(PHASE_SORT);
		more = spool_sort(spool);
		build_report_phase(PHASE_WRITE);
		if (!more)
			break;
		while (spool_next(spool, &entry))
		{
			add_entry(build, 0, &entry, InvalidBlockNumber);
			if (++unreported == REPORT_INTERVAL)
			{
				CHECK_FOR_INTERRUPTS();
				report_done(done, unreported);
				unreported = 0;
			}
		}
	}
	report_done(done, unreported);
}

/*
 * Build a tree from the entries of the spool.  The caller has called spool_begin().
 * Returns the root.  *done counts the entries that all processes have written.
 */
TreeRoot
build_tree(Relation index, int tree, Spool *spool, pg_atomic_uint64 *done)
{
	TreeBuild	build = {0};

	build.index = index;
	build.tree = tree;
	build.to_allocate = build_tree_size(spool_count(spool));
	add_level(&build, &lowest_entry);
	add_entries(&build, spool, done);
	return finish_levels(&build);
}

/*
 * Return the name of the file with the downlinks of a partition.
 */
static char *
downlinks_name(int tree, int partition)
{
	return psprintf("downlinks.%d.%d", tree, partition);
}

/*
 * Build a partition of the leaves of a tree from the entries of the spool.  The caller has
 * called spool_begin().  Writes the downlinks to these leaves to a file among `files`, and
 * returns the number of leaves.  *done counts the entries that all processes have written.
 */
BlockNumber
build_leaves(Relation index, int tree, const LeafPartition *partition, Spool *spool,
			 SharedFileSet *files, pg_atomic_uint64 *done)
{
	TreeBuild	build = {0};
	BlockNumber nleaves = level_size(spool_count(spool), LEAF_FILL);
	Page		last;

	build.index = index;
	build.tree = tree;
	build.to_allocate = nleaves - 1;
	build.downlinks = BufFileCreateFileSet(&files->fs,
										   downlinks_name(tree, partition->number));

	/* the first leaf is allocated already, because the leaf to its left links to it */
	build.next_block = partition->block;
	build.end_block = partition->block + 1;
	add_level(&build, &partition->low);
	add_entries(&build, spool, done);

	last = build.level[0]->page.data;
	if (BlockNumberIsValid(partition->right))
	{
		TreePageGetOpaque(last)->right = partition->right;
		page_set_high_key(last, &partition->high);
	}
	finish_page(&build, 0);
	BufFileExportFileSet(build.downlinks);
	BufFileClose(build.downlinks);
	pfree(build.level[0]);
	return nleaves;
}

/*
 * Build the inner levels above nleaves leaves, and return the root.  nleaves must be at
 * least 2.  Reads the downlinks to the leaves from the files of all partitions, which must
 * be finished.
 */
TreeRoot
build_inner_levels(Relation index, int tree, BlockNumber nleaves, int npartitions,
				   SharedFileSet *files)
{
	TreeBuild	build = {0};
	PageItem	downlink;

	Assert(nleaves > 1);
	build.index = index;
	build.tree = tree;
	build.to_allocate = count_inner_pages(nleaves);
	build.nlevels = 1;
	for (int i = 0; i < npartitions; i++)
	{
		BufFile    *file = BufFileOpenFileSet(&files->fs, downlinks_name(tree, i), O_RDONLY,
											  false);
		int64		n = BufFileSize(file) / sizeof(PageItem);

		for (int64 j = 0; j < n; j++)
		{
			if (j % REPORT_INTERVAL == 0)
				CHECK_FOR_INTERRUPTS();
			read_temp_file(file, &downlink, sizeof(downlink));
			add_entry(&build, 1, &downlink.entry, downlink.child);
		}
		BufFileClose(file);
	}
	return finish_levels(&build);
}
