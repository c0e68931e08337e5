/*
 * Removal of the entries of dead rows, and of pages
 *
 * Vacuum reads the leaves from left to right, as scans do, not in the order of the file.
 * If a leaf is split before vacuum reaches it, vacuum reaches the new right sibling after
 * that leaf, wherever in the file the new page is.  Leaves to the left have been vacuumed,
 * and new entries there are of live rows.  CREATE INDEX CONCURRENTLY reads leaves so, too.
 * It would insert twice a row that it missed.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "catalog/pg_index.h"
#include "commands/vacuum.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "index/access_method.h"
#include "index/tree/tree.h"

/*
 * State of the prefetching of leaves.  The order of leaves in the file is not the order of
 * their keys.  The downlinks to the next leaves are on a page of level 1, and `parent` is a
 * copy of that page.
 */
typedef struct LeafAhead
{
	int			max_leaves;		/* number of leaves to prefetch; 0 if none */
	bool		known;			/* true if `parent` contains a page of this tree */
	int			fetched;		/* position in `parent` of the first downlink whose leaf
								 * has not been prefetched */
	PGAlignedBlock parent;		/* copy of a page of level 1 */
} LeafAhead;

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
 * Copy the live entries of a locked leaf to kept[0..MAX_LEAF_ENTRIES-1], and return their
 * number.  Sets *nsorted to the number of leading entries in kept[] that are in order.
 * Raises an error if a TID is invalid.
 */
static int
collect_live(Vacuum *vacuum, Buffer buffer, PageItem *kept, int *nsorted)
{
	Page		page = BufferGetPage(buffer);
	int			n = page_nentries(page);
	int			was_sorted = TreePageGetOpaque(page)->nsorted;
	int			nkept = 0;

	*nsorted = 0;
	for (int i = 0; i < n; i++)
	{
		Entry		entry = page_entry(page, i);

		(void) leaf_checked_tid(vacuum->info->index, buffer, i);
		if (vacuum->callback(&entry.tid, vacuum->callback_state))
			continue;
		kept[nkept++] = (PageItem) {entry, InvalidBlockNumber};
		*nsorted += (i < was_sorted);
	}
	return nkept;
}

/*
 * Remove from a leaf the entries that the callback reports as dead, in one WAL record.
 * Sorts the others, because most of the leaf is logged anyway: each entry after the first
 * dead one moves.  A search compares its key with every unsorted entry.  Adds the numbers
 * of removed and remaining rows to the statistics.
 *
 * The entries of the first tree and of the tree of placeholders are counted as rows.  If
 * rows have at most one key, each row counts once.  If rows may have several keys, the
 * count is a number of entries, and simhash_vacuumcleanup replaces it by a number of rows.
 *
 * The caller holds a pin and the cleanup lock of the buffer.  So no scan still has to fetch
 * heap tuples of this leaf under its pin (leaf_reader_read).
 */
static void
vacuum_leaf(Vacuum *vacuum, Buffer buffer)
{
	Relation	index = vacuum->info->index;
	Page		page = BufferGetPage(buffer);
	int			n = page_nentries(page);
	int			tree = TreePageGetOpaque(page)->tree;
	PageItem	kept[MAX_LEAF_ENTRIES];
	int			nsorted;
	int			nkept = collect_live(vacuum, buffer, kept, &nsorted);

	if (nkept < n)
	{
		GenericXLogState *state = GenericXLogStart(index);

		page = GenericXLogRegisterBuffer(state, buffer, 0);
		page_sort_items(kept, nsorted, nkept);
		page_set_items(page, kept, nkept);
		GenericXLogFinish(state);
	}
	if (tree == 0 || tree == placeholder_tree(meta_get(index)))
	{
		vacuum->stats->tuples_removed += n - nkept;
		vacuum->stats->num_index_tuples += nkept;
	}
}

/*
 * Prefetch up to ahead->max_leaves leaves that follow the leaf of a link, as far as the
 * parent page has downlinks to them.  Share-locks one page at a time.  The caller must not
 * hold the lock of any page.
 */
static void
fetch_ahead(LeafAhead *ahead, Relation index, const PageLink *leaf)
{
	Page		parent = ahead->parent.data;
	int			next;
	int			end;

	if (ahead->max_leaves == 0 || meta_get(index)->root[leaf->tree].level == 0)
		return;
	if (!ahead->known || page_is_left_of(parent, &leaf->low_key))
	{
		page_copy_and_release(descend_to(index, leaf->tree, 1, &leaf->low_key,
										 BUFFER_LOCK_SHARE), parent);
		ahead->fetched = 0;
		ahead->known = true;
	}
	next = find_child(parent, &leaf->low_key) + 1;
	end = Min(page_nentries(parent), next + ahead->max_leaves);
	for (ahead->fetched = Max(ahead->fetched, next); ahead->fetched < end; ahead->fetched++)
	{
		BlockNumber block = inner_child(parent, ahead->fetched);

		if (page_is_readable(index, block))
			PrefetchBuffer(index, MAIN_FORKNUM, block);
	}
}

/*
 * Copy the page that a link leads to.  If the page is a leaf, locks it for cleanup, and first
 * removes its dead entries.  Share-locks an inner page.  Leaves the page unlocked and unpinned.
 * Raises an error if the page does not match the link.
 *
 * The link leads to a leftmost page, or is the right-link of a page that has been unlocked
 * since.  The link is not stale nevertheless, because only this pass merges pages.
 */
static void
visit_page(Vacuum *vacuum, const PageLink *link, Page copy)
{
	Relation	index = vacuum->info->index;
	Buffer		buffer;

	if (link->level == 0)
		fetch_ahead(&vacuum->ahead, index, link);
	pause_before_link(link->level);
	buffer = page_pin(index, link, vacuum->info->strategy);
	if (link->level == 0)
		LockBufferForCleanup(buffer);
	else
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!page_matches(index, buffer, link))
		page_report_mismatch(index, link);
	if (link->level == 0)
		vacuum_leaf(vacuum, buffer);
	page_copy_and_release(buffer, copy);
}

/*
 * Read the pages of a level from left to right.  Remove dead entries from leaves, and
 * merge pages into their left siblings.  Do not merge pages of the highest level.
 *
 * Incomplete splits are finished, because pages of an incomplete split cannot be merged,
 * and perhaps no insertion ever reaches them.
 */
static void
vacuum_level(Vacuum *vacuum, int tree, int level, bool highest)
{
	Relation	index = vacuum->info->index;
	Buffer		leftmost = descend_to(index, tree, level, &lowest_entry, BUFFER_LOCK_SHARE);
	PageLink	link = {lowest_entry, BufferGetBlockNumber(leftmost), tree, level};
	int			limit = merge_limit(level);
	int			nleft = limit + 1;	/* number of entries of the left sibling */
	PGAlignedBlock copy;
	Page		page = copy.data;

	UnlockReleaseBuffer(leftmost);
	for (;;)
	{
		PageLink	next;

		vacuum_may_pause();
		visit_page(vacuum, &link, page);
		next = page_right_link(page);
		if (page_split_is_incomplete(page))
			split_finish_in_place(index, tree, level, &next.low_key);
		if (!highest && nleft + page_nentries(page) <= limit && merge_into_left(index, &link))
		{
			nleft += page_nentries(page);
			vacuum->stats->pages_newly_deleted++;
		}
		else
			nleft = page_nentries(page);
		if (page_is_rightmost(page))
			break;
		link = next;
	}
}

/*
 * Vacuum a tree, from the leaf level up to the level below the root.  Reads the root only
 * if the root is a leaf.  Each level follows the level below it, because a merge of pages
 * removes a downlink from their parent.
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
 * ambulkdelete: remove all entries whose TIDs the callback reports as dead, merge pages,
 * and return the statistics.
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
	stats->num_pages = RelationGetNumberOfBlocks(index);
	stats->pages_deleted = stats->pages_free = meta_count_free(index);
	pfree(vacuum);
	return stats;
}

/*
 * amvacuumcleanup: complete the statistics, and return them.
 *
 * The number of rows is unknown if ambulkdelete was not called, or if a row may have
 * several keys.  Then the number of heap tuples is used instead.  A partial index may have
 * fewer rows, so its number is marked as estimated.  VACUUM does not store an estimated
 * number in pg_class.
 *
 * If ambulkdelete was not called, this reads no page.  So an index that is damaged or of
 * another format does not prevent the vacuum of a table without dead rows.  If there are dead
 * rows, ambulkdelete has to raise an error.  Otherwise their TIDs would be reused while the
 * index has entries with them.
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
		stats->num_pages = RelationGetNumberOfBlocks(info->index);
	}
	if (!rows_known)
	{
		stats->num_index_tuples = info->num_heap_tuples;
		stats->estimated_count = info->estimated_count ||
			!heap_attisnull(info->index->rd_indextuple, Anum_pg_index_indpred, NULL);
	}
	return stats;
}
