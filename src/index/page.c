/*-------------------------------------------------------------------------
 *
 * page.c
 *		The pages of an index: format, checks, reading and locking
 *
 * No page is used before page_check has found it sound, so that damaged
 * pages lead to errors, not to wild reads.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "index/meta.h"
#include "index/page.h"

/*
 * Format an empty page of a tree.
 */
void
page_init(Page page, int tree, int level)
{
	TreePageOpaque opaque;

	PageInit(page, BLCKSZ, sizeof(TreePageOpaqueData));
	opaque = TreePageGetOpaque(page);
	memset(opaque, 0, sizeof(TreePageOpaqueData));
	opaque->right = InvalidBlockNumber;
	opaque->level = level;
	opaque->tree = tree;
	opaque->page_id = TREE_PAGE_ID;
}

/*
 * Make room for, or drop, entries at the end: what is between them and the
 * hole is up to the caller.
 */
void
page_set_count(Page page, int nentries)
{
	PageHeader	header = (PageHeader) page;

	header->pd_lower = TREE_PAGE_LOWER + nentries * sizeof(uint64);
	header->pd_upper = TREE_PAGE_UPPER - nentries *
		(page_is_leaf(page) ? sizeof(ItemPointerData) : sizeof(LinkData));
}

void
page_set_high(Page page, const Entry *high)
{
	TreePageOpaque opaque = TreePageGetOpaque(page);

	opaque->high_key = high->key;
	opaque->high_tid = high->tid;
}

/*
 * Append an entry to a page that is not full.  The child is for pages above
 * the leaves.
 */
void
page_append(Page page, const Entry *entry, BlockNumber child)
{
	int			n = page_nentries(page);

	Assert(n < page_max_entries(page));
	page_set_count(page, n + 1);
	page_keys(page)[n] = entry->key;
	if (page_is_leaf(page))
		*leaf_tid(page, n) = entry->tid;
	else
	{
		inner_link(page, n)->tid = entry->tid;
		BlockIdSet(&inner_link(page, n)->child, child);
	}
}

void
page_report_corruption(Relation index, BlockNumber block, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" contains a corrupted page at block %u",
					RelationGetRelationName(index), block),
			 errdetail("A check of the page found that %s.", what),
			 errhint("Please REINDEX it.")));
}

/*
 * Check that a page is sound by itself: that nothing which it says of its
 * own size leads outside it; and that it is where it should be.  Any tree or
 * level is taken where -1 is given.  What the entries are is not checked.
 */
void
page_check(Relation index, Buffer buffer, int tree, int level)
{
	Page		page = BufferGetPage(buffer);
	PageHeader	header = (PageHeader) page;
	BlockNumber block = BufferGetBlockNumber(buffer);
	TreePageOpaque opaque;
	int			n;

	if (PageIsNew(page))
		page_report_corruption(index, block, "it is all zeros");
	if (PageGetSpecialSize(page) != MAXALIGN(sizeof(TreePageOpaqueData)) ||
		header->pd_special != TREE_PAGE_UPPER)
		page_report_corruption(index, block, "its special space is of the wrong size");
	opaque = TreePageGetOpaque(page);
	if (opaque->page_id != TREE_PAGE_ID)
		page_report_corruption(index, block, "it is no page of a tree");
	if (tree >= 0 && opaque->tree != tree)
		page_report_corruption(index, block, "it is of another tree");
	if (level >= 0 && opaque->level != level)
		page_report_corruption(index, block, "it is of another level");

	if (header->pd_lower < TREE_PAGE_LOWER ||
		(header->pd_lower - TREE_PAGE_LOWER) % sizeof(uint64) != 0)
		page_report_corruption(index, block, "its keys end in the wrong place");
	n = page_nentries(page);
	if (n > page_max_entries(page) ||
		header->pd_upper != TREE_PAGE_UPPER - n *
		(page_is_leaf(page) ? sizeof(ItemPointerData) : sizeof(LinkData)))
		page_report_corruption(index, block, "its entries end in the wrong place");
	if ((opaque->flags & TREE_INCOMPLETE_SPLIT) && page_is_rightmost(page))
		page_report_corruption(index, block, "it was split, but has no right sibling");
	if (opaque->nsorted > n || (opaque->level > 0 && n == 0))
		page_report_corruption(index, block, "it has too few entries");
}

/*
 * Whether a link may lead to a block: a damaged one must not look like a wish
 * for a new page (P_NEW is no block's number), nor lead beyond the file's end.
 */
bool
page_is_readable(Relation index, BlockNumber block)
{
	return block != META_BLOCK && meta_has_block(index, block);
}

/*
 * Read, pin and lock a page of a tree, checked.
 */
Buffer
page_read(Relation index, BlockNumber block, int lock, int tree, int level)
{
	return page_read_recent(index, block, InvalidBuffer, lock, tree, level);
}

/*
 * The same for a page that was seen in a buffer a moment ago, if that is valid.
 */
Buffer
page_read_recent(Relation index, BlockNumber block, Buffer recent, int lock,
				 int tree, int level)
{
	Buffer		buffer = recent;

	if (!page_is_readable(index, block))
		page_report_corruption(index, block, "a link leads to it, where no page of a tree is");
	if (!BufferIsValid(recent) || !read_recent_buffer(index, block, recent))
		buffer = ReadBuffer(index, block);
	page_prefetch(BufferGetPage(buffer));
	LockBuffer(buffer, lock);
	page_check(index, buffer, tree, level);
	return buffer;
}

/*
 * Read, pin and lock the right sibling of a page whose upper bound was `high`.
 *
 * Entries ascend from page to page, so a page whose bound does not lie beyond
 * that of its left sibling is damage; without this check, a ring of siblings
 * would be walked forever.
 */
Buffer
page_read_right(Relation index, BlockNumber right, const Entry *high, int lock,
				int tree, int level)
{
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	buffer = page_read(index, right, lock, tree, level);
	if (page_is_left_of(BufferGetPage(buffer), high))
		page_report_corruption(index, right, "its bound is not beyond that of its left sibling");
	return buffer;
}

/*
 * Go to the right sibling, unlocking and releasing the page.
 */
Buffer
page_step_right(Relation index, Buffer buffer, int lock)
{
	Page		page = BufferGetPage(buffer);
	TreePageOpaque opaque = TreePageGetOpaque(page);
	BlockNumber right = opaque->right;
	int			tree = opaque->tree;
	int			level = opaque->level;
	Entry		high = page_high(page);

	UnlockReleaseBuffer(buffer);
	return page_read_right(index, right, &high, lock, tree, level);
}

/*
 * Go right from a page, as far as it has been split since a link to it was read,
 * to the one that an entry belongs in.
 */
Buffer
page_move_right(Relation index, Buffer buffer, const Entry *entry, int lock)
{
	while (page_is_left_of(BufferGetPage(buffer), entry))
		buffer = page_step_right(index, buffer, lock);
	return buffer;
}

/*
 * Extend the index by a page; returns it pinned and exclusively locked, all
 * zeros.  Pages are never recycled: what a page was, it stays, so a stale
 * link leads to it or to the left of where its entries have gone.
 */
Buffer
page_new_buffer(Relation index)
{
	bool		need_lock = !RELATION_IS_LOCAL(index);
	Buffer		buffer;

	if (need_lock)
		LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBuffer(index, P_NEW);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (need_lock)
		UnlockRelationForExtension(index, ExclusiveLock);
	return buffer;
}

/*
 * Extend the index by n pages in a row, all zeros; returns the first.
 *
 * The extension lock is needed even if nobody else can see the index yet: it
 * may be built by several processes.  This lock they do not share.
 */
BlockNumber
page_extend(Relation index, BlockNumber n)
{
	BlockNumber first = InvalidBlockNumber;

	LockRelationForExtension(index, ExclusiveLock);
	for (BlockNumber i = 0; i < n; i++)
	{
		Buffer		buffer = ReadBuffer(index, P_NEW);

		if (i == 0)
			first = BufferGetBlockNumber(buffer);
		ReleaseBuffer(buffer);
	}
	UnlockRelationForExtension(index, ExclusiveLock);
	return first;
}
