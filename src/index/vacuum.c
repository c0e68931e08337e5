/*-------------------------------------------------------------------------
 *
 * vacuum.c
 *		Removal of the entries of dead rows
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
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "index/handler.h"
#include "index/meta.h"
#include "index/page.h"

/*
 * Each row is counted once: in the first table, or in the tree of NULLs.
 */
static bool
tree_counts_rows(Relation index, int tree)
{
	return tree == 0 || tree == null_tree(meta_get(index));
}

/*
 * Copy the entries of a leaf that stay to `kept`; returns their number.
 * *nsorted becomes that of the leading ones that are in order.
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

		if (!tid_is_valid(&entry.tid))
			page_report_corruption(index, BufferGetBlockNumber(buffer),
								   "an entry has no valid TID");
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
 * The buffer is pinned, and locked for cleanup: scans whose snapshot does not
 * protect them from TIDs that are used again keep a pin (scan.c).
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

static void
vacuum_block(IndexVacuumInfo *info, BlockNumber block, IndexBulkDeleteResult *stats,
			 IndexBulkDeleteCallback callback, void *callback_state)
{
	Relation	index = info->index;
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL,
											info->strategy);
	bool		is_leaf;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	/* a crash may leave a page that the index was extended by, but no more */
	if (PageIsNew(BufferGetPage(buffer)))
	{
		UnlockReleaseBuffer(buffer);
		return;
	}
	page_check(index, buffer, -1, -1);
	is_leaf = page_is_leaf(BufferGetPage(buffer));
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);

	/* a page stays what it is, so this need not be looked at again */
	if (is_leaf)
	{
		LockBufferForCleanup(buffer);
		page_check(index, buffer, -1, 0);
		vacuum_leaf(index, buffer, stats, callback, callback_state);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	}
	ReleaseBuffer(buffer);
}

static BlockNumber
index_nblocks(Relation index)
{
	BlockNumber nblocks;
	bool		need_lock = !RELATION_IS_LOCAL(index);

	/* pages that somebody is just adding shall be counted */
	if (need_lock)
		LockRelationForExtension(index, ExclusiveLock);
	nblocks = RelationGetNumberOfBlocks(index);
	if (need_lock)
		UnlockRelationForExtension(index, ExclusiveLock);
	return nblocks;
}

/*
 * ambulkdelete
 *
 * In physical order.  A split moves entries to a new page, which is beyond
 * all others: so none escapes, if the length is read again at the end.
 */
IndexBulkDeleteResult *
simhash_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
				   IndexBulkDeleteCallback callback, void *callback_state)
{
	BlockNumber block = META_BLOCK + 1;
	BlockNumber nblocks;

	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	stats->num_index_tuples = 0;
	while (block < (nblocks = index_nblocks(info->index)))
	{
		for (; block < nblocks; block++)
		{
			vacuum_may_pause();
			vacuum_block(info, block, stats, callback, callback_state);
		}
	}
	stats->num_pages = nblocks;
	stats->estimated_count = false;
	return stats;
}

/*
 * amvacuumcleanup
 *
 * Without a bulk deletion before it the number of rows is not known; that of
 * the heap is as good, unless the index is partial: then what is known of it
 * already stays.
 */
IndexBulkDeleteResult *
simhash_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only)
		return stats;
	if (stats == NULL)
	{
		stats = palloc0(sizeof(IndexBulkDeleteResult));
		stats->num_pages = RelationGetNumberOfBlocks(info->index);
		stats->num_index_tuples = info->num_heap_tuples;
		stats->estimated_count = info->estimated_count ||
			!heap_attisnull(info->index->rd_indextuple, Anum_pg_index_indpred, NULL);
	}
	return stats;
}
