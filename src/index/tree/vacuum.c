/*-------------------------------------------------------------------------
 *
 * vacuum.c
 *		Removal of the entries of dead rows, and of pages
 *
 * Leaves are read from the first to the last, as scans read them: a split of a leaf that
 * is still to come moves entries to a new leaf that is still to come, too, wherever in
 * the file it is.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "catalog/pg_index.h"
#include "commands/vacuum.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "index/access_method.h"
#include "index/tree/descend.h"
#include "index/tree/link.h"
#include "index/tree/merge.h"
#include "index/tree/meta.h"
#include "index/tree/pause.h"
#include "index/tree/split.h"

/*
 * Each row is counted once: in the first table, or in the tree of rows without words.
 * Where a row may have several words the entries are counted, which are not the rows.
 */
static bool
tree_counts_rows(Relation index, int tree)
{
	return tree == 0 || tree == placeholder_tree(meta_get(index));
}

/*
 * Copy the entries of a leaf that stay to `kept`; returns their number.  *nsorted becomes
 * the number of those at the beginning that are in order.
 */
static int
collect_live(Relation index, Buffer buffer, Entry *kept, int *nsorted,
			 IndexBulkDeleteCallback callback, void *callback_state)
{
	Page		page = BufferGetPage(buffer);
	int			n = page_nentries(page);
	int			was_sorted = TreePageGetOpaque(page)->nsorted;
	int			nkept = 0;

	*nsorted = 0;
	for (int i = 0; i < n; i++)
	{
		Entry		entry = page_entry(page, i);

		leaf_check_tid(index, buffer, &entry.tid);
		if (callback(&entry.tid, callback_state))
			continue;
		kept[nkept++] = entry;
		*nsorted += (i < was_sorted);
	}
	return nkept;
}

/*
 * Remove from a leaf what the callback says is dead.
 *
 * The buffer is pinned, and locked for cleanup, so that no scan has a pin on the leaf: a
 * scan whose snapshot is not an MVCC one keeps its pin on a leaf until the executor has
 * looked at all rows of the leaf's matches (scan_next_page), since it could not tell a
 * row of one of these TIDs from another row that has got the TID after a removal.
 */
static void
vacuum_leaf(Relation index, Buffer buffer, IndexBulkDeleteResult *stats,
			IndexBulkDeleteCallback callback, void *callback_state)
{
	Page		page = BufferGetPage(buffer);
	int			n = page_nentries(page);
	int			tree = TreePageGetOpaque(page)->tree;
	Entry		kept[MAX_LEAF_ENTRIES];
	int			nsorted;
	int			nkept = collect_live(index, buffer, kept, &nsorted, callback,
									 callback_state);

	if (nkept < n)
	{
		GenericXLogState *state = GenericXLogStart(index);

		page = GenericXLogRegisterBuffer(state, buffer, 0);
		page_set_count(page, 0);
		for (int i = 0; i < nkept; i++)
			page_append(page, &kept[i], InvalidBlockNumber);
		TreePageGetOpaque(page)->nsorted = nsorted;
		GenericXLogFinish(state);
	}
	if (tree_counts_rows(index, tree))
	{
		stats->tuples_removed += n - nkept;
		stats->num_index_tuples += nkept;
	}
}

/* --- from leaf to leaf ----------------------------------------------------------- */

/*
 * Fetching leaves ahead: their order in the file is not that of their keys.  The links to
 * the leaves to come stand in the level above, of which a page at a time is copied.
 */
typedef struct LeafAhead
{
	int			max_leaves;		/* leaves to look ahead */
	bool		known;			/* whether there is a copy */
	int			at;				/* place in the copy of the link to the leaf read
								 * last */
	int			fetched;		/* leaves have been fetched of links before this
								 * place */
	PGAlignedBlock parent;
} LeafAhead;

/*
 * Copy the page with the links from a leaf on, if there is a level above.
 */
static void
copy_downlinks(LeafAhead *ahead, Relation index, const PageLink *leaf)
{
	Buffer		buffer = descend_to(index, leaf->tree, 1, &leaf->low_key,
									BUFFER_LOCK_SHARE);

	memcpy(ahead->parent.data, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
	ahead->at = ahead->fetched = 0;
	ahead->known = true;
}

/*
 * Have the leaves fetched that come after the one about to be read.
 */
static void
fetch_ahead(LeafAhead *ahead, Relation index, const PageLink *leaf)
{
	Page		parent = ahead->parent.data;
	int			end;

	if (ahead->max_leaves == 0 || meta_get(index)->root[leaf->tree].level == 0)
		return;
	if (!ahead->known || page_is_left_of(parent, &leaf->low_key))
		copy_downlinks(ahead, index, leaf);
	while (ahead->at < page_nentries(parent))
	{
		Entry		bound = page_entry(parent, ahead->at);

		if (entry_compare(&bound, &leaf->low_key) >= 0)
			break;
		ahead->at++;
	}
	ahead->fetched = Max(ahead->fetched, ahead->at + 1);
	end = Min(page_nentries(parent), ahead->at + 1 + ahead->max_leaves);
	for (; ahead->fetched < end; ahead->fetched++)
	{
		BlockNumber block = inner_child(parent, ahead->fetched);

		if (page_is_readable(index, block))
			PrefetchBuffer(index, MAIN_FORKNUM, block);
	}
}

/* --- the pass --------------------------------------------------------------------- */

typedef struct Vacuum
{
	IndexVacuumInfo *info;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;
	void	   *callback_state;
	LeafAhead	ahead;
} Vacuum;

/*
 * Pin and lock the page that a link leads to, a leaf for cleanup.  The link is that of
 * the left sibling: pages are merged by this pass only, so it is not stale, though the
 * left sibling has been unlocked since.
 */
static Buffer
read_page(Vacuum *vacuum, const PageLink *link)
{
	Relation	index = vacuum->info->index;
	Buffer		buffer;

	if (link->level == 0)
		fetch_ahead(&vacuum->ahead, index, link);
	pause_before_link(link->level);
	buffer = page_pin(index, link, InvalidBuffer, vacuum->info->strategy);
	if (link->level == 0)
		LockBufferForCleanup(buffer);
	else
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!page_matches(index, buffer, link))
		page_report_mismatch(index, link);
	return buffer;
}

static PageLink
leftmost_link(Relation index, int tree, int level)
{
	Entry		lowest = lowest_entry();
	Buffer		buffer = descend_to(index, tree, level, &lowest, BUFFER_LOCK_SHARE);
	PageLink	link = {lowest, BufferGetBlockNumber(buffer), tree, level};

	UnlockReleaseBuffer(buffer);
	return link;
}

/* What a pass finds at a page. */
typedef struct PageVisit
{
	int			n;				/* entries */
	bool		incomplete;		/* whether its split is */
	bool		rightmost;
	PageLink	next;			/* to its right sibling, if it has one */
} PageVisit;

/*
 * Remove what is dead from the page that a link leads to, if it is a leaf.
 */
static PageVisit
visit_page(Vacuum *vacuum, const PageLink *link)
{
	Buffer		buffer = read_page(vacuum, link);
	Page		page = BufferGetPage(buffer);
	PageVisit	visit;

	if (link->level == 0)
		vacuum_leaf(vacuum->info->index, buffer, vacuum->stats, vacuum->callback,
					vacuum->callback_state);
	visit.n = page_nentries(page);
	visit.incomplete = page_split_is_incomplete(page);
	visit.rightmost = page_is_rightmost(page);
	visit.next = page_right_link(page);
	UnlockReleaseBuffer(buffer);
	return visit;
}

/*
 * Go through a level from left to right, remove what is dead from leaves, and merge
 * pages into their left siblings, unless they are of the highest level.
 *
 * A split moves entries to the right of where they were: either both pages are behind
 * already, or both are still to come.  A split that was left incomplete is finished,
 * since perhaps nobody ever inserts there, and its pages could not be merged.
 */
static void
vacuum_level(Vacuum *vacuum, int tree, int level, bool highest)
{
	Relation	index = vacuum->info->index;
	PageLink	link = leftmost_link(index, tree, level);
	int			limit = merge_limit(level);
	int			nleft = limit + 1;	/* entries of the page to the left */

	for (;;)
	{
		PageVisit	visit;

		vacuum_may_pause();
		visit = visit_page(vacuum, &link);
		if (visit.incomplete)
			split_finish_in_place(index, tree, level, &visit.next.low_key);
		if (!highest && nleft + visit.n <= limit && merge_into_left(index, &link))
		{
			nleft += visit.n;
			vacuum->stats->pages_newly_deleted++;
		}
		else
			nleft = visit.n;
		if (visit.rightmost)
			break;
		link = visit.next;
	}
}

/*
 * A tree, from the leaves up: where a level has lost pages, those above it have lost
 * links.
 */
static void
vacuum_tree(Vacuum *vacuum, int tree)
{
	int			root_level = meta_reread(vacuum->info->index)->root[tree].level;

	vacuum->ahead.known = false;
	for (int level = 0; level == 0 || level < root_level; level++)
		vacuum_level(vacuum, tree, level, level == root_level);
}

static void
count_pages(Relation index, IndexBulkDeleteResult *stats)
{
	stats->num_pages = RelationGetNumberOfBlocks(index);
	stats->pages_deleted = stats->pages_free = meta_count_free(index);
}

/*
 * ambulkdelete
 */
IndexBulkDeleteResult *
simhash_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
				   IndexBulkDeleteCallback callback, void *callback_state)
{
	Relation	index = info->index;
	int			ntrees = meta_get(index)->ntrees;
	Vacuum	   *vacuum = palloc(sizeof(Vacuum));

	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	stats->num_index_tuples = 0;
	stats->estimated_count = false;
	vacuum->info = info;
	vacuum->stats = stats;
	vacuum->callback = callback;
	vacuum->callback_state = callback_state;
	vacuum->ahead.max_leaves =
		get_tablespace_maintenance_io_concurrency(index->rd_rel->reltablespace);
	for (int tree = 0; tree < ntrees; tree++)
		vacuum_tree(vacuum, tree);
	count_pages(index, stats);
	pfree(vacuum);
	return stats;
}

/*
 * amvacuumcleanup
 *
 * Without a bulk deletion before it the number of rows is not known, nor where a row may
 * have several words; the number of the heap's rows is as good, unless the index is
 * partial: then the number in pg_class stays.
 */
IndexBulkDeleteResult *
simhash_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	bool		rows_known;

	if (info->analyze_only)
		return stats;
	rows_known = stats && !design_is_whole(&meta_get(info->index)->design.options);
	if (stats == NULL)
	{
		stats = palloc0(sizeof(IndexBulkDeleteResult));
		count_pages(info->index, stats);
	}
	if (!rows_known)
	{
		stats->num_index_tuples = info->num_heap_tuples;
		stats->estimated_count = info->estimated_count ||
			!heap_attisnull(info->index->rd_indextuple, Anum_pg_index_indpred, NULL);
	}
	return stats;
}
