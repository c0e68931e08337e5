/*-------------------------------------------------------------------------
 *
 * vacuum.c
 *		Removal of the entries of dead rows, and of pages
 *
 * Vacuum reads the leaves from left to right, as scans do, not in the order of the file.
 * If a leaf is split before vacuum reaches it, vacuum reaches the new leaf later, wherever
 * in the file that is.
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
 * Return true if the entries of a tree are counted as rows: the first tree and the tree of
 * placeholders.  So each row counts once, if a row has at most one key.  If rows may have
 * several keys, the count is that of entries, not of rows (simhash_vacuumcleanup).
 */
static bool
tree_counts_rows(Relation index, int tree)
{
	return tree == 0 || tree == placeholder_tree(meta_get(index));
}

/*
 * Copy the live entries of a locked leaf to `kept`, and return their number.  Sets
 * *nsorted to the number of leading ones that are in order.  Raises an error if a TID is
 * invalid.
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

		(void) leaf_checked_tid(index, buffer, i);
		if (callback(&entry.tid, callback_state))
			continue;
		kept[nkept++] = entry;
		*nsorted += (i < was_sorted);
	}
	return nkept;
}

/*
 * Remove the entries that the callback reports as dead from a leaf, in one WAL record.
 *
 * The caller holds a pin and the cleanup lock of the buffer, so no scan has a pin on the
 * leaf.  A scan with a non-MVCC snapshot keeps its pin on a leaf until the executor has
 * fetched the heap tuples of all its matches on the leaf (leaf_reader_read).  Without the
 * pin, vacuum could remove a tuple and another tuple could get its TID.  The scan could
 * not tell the two apart.
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

/* --- prefetching of leaves -------------------------------------------------------- */

/*
 * State of the prefetching of leaves.  Their order in the file is not the order of their
 * keys.  The downlinks of the next leaves stand on a parent page, of which this is a copy.
 */
typedef struct LeafAhead
{
	int			max_leaves;		/* number of leaves to prefetch; 0 if none */
	bool		known;			/* true if `parent` is a copy */
	int			at;				/* position in `parent` of the downlink of the leaf read
								 * last */
	int			fetched;		/* position in `parent` of the first downlink whose leaf
								 * has not been prefetched */
	PGAlignedBlock parent;		/* copy of a page of level 1 */
} LeafAhead;

/*
 * Copy the parent page of a leaf, which must have a parent level.  Share-locks one page
 * at a time meanwhile.  The caller must not hold the lock of any page.
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
 * Prefetch the leaves that follow the leaf of a link, as far as the parent page has
 * downlinks to them.  The caller must not hold the lock of any page.
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
		Entry		downlink_key = page_entry(parent, ahead->at);

		if (entry_compare(&downlink_key, &leaf->low_key) >= 0)
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

/* State of one call of ambulkdelete. */
typedef struct Vacuum
{
	IndexVacuumInfo *info;		/* arguments of ambulkdelete */
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;
	void	   *callback_state;
	LeafAhead	ahead;			/* prefetching of leaves */
} Vacuum;

/*
 * Pin and lock the page that a link leads to: a leaf for cleanup, an inner page with a
 * share lock.  Raises an error if the page does not match.
 *
 * The link is the right-link of the left sibling, which has been unlocked since.  The link
 * is not stale nevertheless, because only this pass merges pages.
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

/*
 * Return a link to the leftmost page of a level.
 */
static PageLink
leftmost_link(Relation index, int tree, int level)
{
	Entry		lowest = lowest_entry();
	Buffer		buffer = descend_to(index, tree, level, &lowest, BUFFER_LOCK_SHARE);
	PageLink	link = {lowest, BufferGetBlockNumber(buffer), tree, level};

	UnlockReleaseBuffer(buffer);
	return link;
}

/* A page as vacuum left it. */
typedef struct PageVisit
{
	int			n;				/* number of entries */
	bool		incomplete;		/* incomplete-split flag */
	bool		rightmost;		/* true if there is no right sibling */
	PageLink	next;			/* right-link, unless rightmost */
} PageVisit;

/*
 * Read the page that a link leads to.  If it is a leaf, remove the dead entries.  Returns
 * the state of the page, which is unlocked and unpinned.
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
 * Read the pages of a level from left to right.  Remove dead entries from leaves, and
 * merge pages into their left siblings.  Pages of the highest level are not merged.
 *
 * A split moves entries to the right of their page.  So vacuum has read both pages of the
 * split already, or both are still to come.
 *
 * An incomplete split is finished, because its pages cannot be merged, and perhaps no
 * insertion ever comes there.
 */
static void
vacuum_level(Vacuum *vacuum, int tree, int level, bool highest)
{
	Relation	index = vacuum->info->index;
	PageLink	link = leftmost_link(index, tree, level);
	int			limit = merge_limit(level);
	int			nleft = limit + 1;	/* number of entries of the left sibling */

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
 * Vacuum a tree, from the leaf level up to the level below the root.  A root is read only
 * if it is a leaf.  Each level goes after the one below it, because pages merged there have
 * left fewer downlinks on this one.
 */
static void
vacuum_tree(Vacuum *vacuum, int tree)
{
	int			root_level = meta_reread(vacuum->info->index)->root[tree].level;

	vacuum->ahead.known = false;
	for (int level = 0; level == 0 || level < root_level; level++)
		vacuum_level(vacuum, tree, level, level == root_level);
}

/*
 * Count the pages of the index and its free pages.
 */
static void
count_pages(Relation index, IndexBulkDeleteResult *stats)
{
	stats->num_pages = RelationGetNumberOfBlocks(index);
	stats->pages_deleted = stats->pages_free = meta_count_free(index);
}

/*
 * ambulkdelete: remove all entries whose TIDs the callback reports as dead, and merge
 * pages.
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
 * amvacuumcleanup: complete the statistics.
 *
 * The number of rows is unknown if there was no ambulkdelete before, or if a row may have
 * several keys.  Then the number of heap tuples is used, which is as good.  For a partial
 * index it is not: the result is marked as estimated, so reltuples in pg_class stays.
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
