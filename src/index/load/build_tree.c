/*-------------------------------------------------------------------------
 *
 * build_tree.c
 *		Sorted entries into the pages of a tree, bottom up
 *
 * Pages are filled in local memory.  When one is full, it is written through
 * shared buffers and logged, whole: nothing changes it afterwards.
 *
 * The leaves of a tree may be built in parts, by several processes: each builds
 * the chain of those with keys from one range; who finds that they are all there
 * builds the levels above.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "utils/backend_progress.h"
#include "utils/rel.h"

#include "index/load/build_tree.h"
#include "index/tree/extend.h"

/* Pages are filled so far, to leave room for what comes later. */
#define FILL_PERCENT	90
#define LEAF_FILL		(MAX_LEAF_ENTRIES * FILL_PERCENT / 100)
#define INNER_FILL		(MAX_INNER_ENTRIES * FILL_PERCENT / 100)

/* Levels of a tree: far more than 2^32 pages can have. */
#define MAX_LEVELS		16

/*
 * Blocks allocated at a time, so that processes that build the same index do not
 * wait for each other with every page, and the pages of a tree stay together.
 */
#define EXTEND_BLOCKS	128

/* Entries written between reports of progress, and looks for interrupts */
#define REPORT_INTERVAL	4096

/* The page of a level that is being filled. */
typedef struct BuildLevel
{
	BlockNumber block;
	PGAlignedBlock page;
} BuildLevel;

/* A tree, or leaves of one, being built. */
typedef struct TreeBuild
{
	Relation	index;
	int			tree;

	/* blocks allocated but not used, and number of those still to allocate */
	BlockNumber next_block;
	BlockNumber end_block;
	BlockNumber to_allocate;

	/* where links to leaves go, if others build the level above */
	BufFile    *links;

	int			nlevels;
	BuildLevel *level[MAX_LEVELS];	/* those built by others are NULL */
} TreeBuild;

/*
 * Tell in which phase the build is.  What workers report is not shown.
 */
void
build_report_phase(BuildPhase phase)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, phase);
}

/*
 * The number of pages of a level.  Even without entries there is one.
 */
static BlockNumber
level_size(uint64 nentries, int fill)
{
	return Max(1, (nentries + fill - 1) / fill);
}

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
 * A block for the next page, which is written later.
 */
static BlockNumber
allocate_block(TreeBuild *build)
{
	if (build->next_block == build->end_block)
	{
		BlockNumber n = Min(build->to_allocate, EXTEND_BLOCKS);

		/* were the calculation wrong, that would not be the end */
		Assert(n > 0);
		n = Max(n, 1);
		build->next_block = page_extend(build->index, n);
		build->end_block = build->next_block + n;
		build->to_allocate -= n;
	}
	return build->next_block++;
}

/*
 * Write and log a page.
 */
void
build_write_page(Relation index, BlockNumber block, Page page)
{
	Buffer		buffer = ReadBuffer(index, block);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

static void
start_page(TreeBuild *build, int level, BlockNumber block, const Entry *low)
{
	build->level[level]->block = block;
	page_init(build->level[level]->page.data, build->tree, level, low);
}

static void
add_level(TreeBuild *build, const Entry *low)
{
	build->level[build->nlevels] = palloc(sizeof(BuildLevel));
	build->nlevels++;
	start_page(build, build->nlevels - 1, allocate_block(build), low);
}

static void add_entry(TreeBuild *build, int at, const Entry *entry, BlockNumber child);

static void
write_link(BufFile *file, const Entry *bound, BlockNumber block)
{
	LeafLink	link;

	memset(&link, 0, sizeof(link));
	link.bound = *bound;
	link.block = block;
	BufFileWrite(file, &link, sizeof(link));
}

/*
 * The page of a level is full, or the last one: write it, and put its link
 * into the level above.
 */
static void
finish_page(TreeBuild *build, int at)
{
	BuildLevel *level = build->level[at];
	Page		page = level->page.data;
	Entry		low = page_low_key(page);

	if (at == 0)
		TreePageGetOpaque(page)->nsorted = page_nentries(page);
	build_write_page(build->index, level->block, page);
	if (build->links)
		write_link(build->links, &low, level->block);
	else
		add_entry(build, at + 1, &low, level->block);
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
	{
		Entry		lowest = lowest_entry();

		add_level(build, &lowest);
	}
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
 * Write the last page of each level.  The one that has no level above it is
 * the root.
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
	if (at == 0)
		TreePageGetOpaque(build->level[at]->page.data)->nsorted =
			page_nentries(build->level[at]->page.data);
	build_write_page(build->index, root.block, build->level[at]->page.data);

	for (int i = 0; i < build->nlevels; i++)
	{
		if (build->level[i])
			pfree(build->level[i]);
	}
	return root;
}

static void
report_done(pg_atomic_uint64 *done, int nentries)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
								 pg_atomic_add_fetch_u64(done, nentries));
}

/*
 * Sort the next entries of the spool; what follows is writing them.
 */
static bool
sort_next(Spool *spool)
{
	bool		more;

	build_report_phase(PHASE_SORT);
	more = spool_sort(spool);
	build_report_phase(PHASE_WRITE);
	return more;
}

/*
 * Put all entries of the spool into leaves.  *done counts those of all
 * processes.
 */
static void
add_entries(TreeBuild *build, Spool *spool, pg_atomic_uint64 *done)
{
	Entry		entry;
	int			unreported = 0;

	while (sort_next(spool))
	{
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
 * Build a tree, of the table that the spool has begun with.
 */
TreeRoot
build_tree(Relation index, int tree, Spool *spool, pg_atomic_uint64 *done)
{
	TreeBuild	build = {0};
	Entry		lowest = lowest_entry();
	BlockNumber nleaves = level_size(spool_count(spool), LEAF_FILL);

	build.index = index;
	build.tree = tree;
	build.to_allocate = nleaves + count_inner_pages(nleaves);
	add_level(&build, &lowest);
	add_entries(&build, spool, done);
	return finish_levels(&build);
}

/*
 * Build some leaves of a tree, of the table that the spool has begun with.
 * Returns their number.
 */
BlockNumber
build_leaves(Relation index, int tree, const LeafRange *range, Spool *spool,
			 BufFile *links, pg_atomic_uint64 *done)
{
	TreeBuild	build = {0};
	BlockNumber nleaves = level_size(spool_count(spool), LEAF_FILL);
	Page		last;

	build.index = index;
	build.tree = tree;
	build.to_allocate = nleaves - 1;
	build.links = links;

	/* the first one has been allocated before, for others to link to it */
	build.next_block = range->block;
	build.end_block = range->block + 1;
	add_level(&build, &range->low);
	add_entries(&build, spool, done);

	last = build.level[0]->page.data;
	if (BlockNumberIsValid(range->right))
	{
		TreePageGetOpaque(last)->right = range->right;
		page_set_high_key(last, &range->high);
	}
	finish_page(&build, 0);
	pfree(build.level[0]);
	return nleaves;
}

/*
 * Build the levels above nleaves leaves.  next_link gives the links to these, in
 * order; there are several.
 */
TreeRoot
build_upper_levels(Relation index, int tree, BlockNumber nleaves,
				   LinkSource next_link, void *arg)
{
	TreeBuild	build = {0};
	LeafLink	link;

	Assert(nleaves > 1);
	build.index = index;
	build.tree = tree;
	build.to_allocate = count_inner_pages(nleaves);
	build.nlevels = 1;
	for (BlockNumber i = 0; i < nleaves; i++)
	{
		if (i % REPORT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		next_link(arg, &link);
		add_entry(&build, 1, &link.bound, link.block);
	}
	return finish_levels(&build);
}
