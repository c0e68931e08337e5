/*
 * The free list: pages that are in no tree
 *
 * The list begins at the metapage.  A merge adds the page that it empties at the front of
 * the list.  A split or a new root takes a page from the front.  The WAL record of the
 * merge, split or new root includes this change.  So a crash neither loses a page nor uses
 * it twice.  A free space map is not WAL-logged, so with it both could happen.
 *
 * Why a merged page may be reused at once.  A process that follows an old link to the page
 * detects that the link is stale (page_matches).  The only links to it stand on its parent and
 * its left sibling, whose locks the merge holds.  So a process that has read such a link
 * before holds no lock now, and compares the page with its link.  Two kinds of process rely
 * on a pin on a leaf, without a lock: a scan with a non-MVCC snapshot, and an insertion of
 * several entries.  So a leaf on which another process has a pin is not merged.  On an
 * inner page a process has a pin only while it holds the lock or waits for it.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"

#include "index/tree/tree.h"

/*
 * Pin and exclusively lock the first free page, and return its buffer.  Returns
 * InvalidBuffer if there is no free page.  Raises an error if the list is damaged.
 *
 * The caller holds the exclusive lock of the metapage.  The caller must keep that lock
 * until one WAL record has removed the page from the list and put it into a tree.
 *
 * A process that followed a stale link may hold the lock of the free page.  That process
 * waits for no other lock, so there is no deadlock.  A damaged list could lead to a page
 * in use, even to a page that the caller has locked.  So the flags of the page are
 * checked before its lock is waited for.
 */
Buffer
free_list_take(Relation index, Buffer meta_buffer)
{
	const MetaPageData *meta = MetaPageGetData(BufferGetPage(meta_buffer));
	BlockNumber block = meta->free_page;
	Buffer		buffer;

	if (block == InvalidBlockNumber)
		return InvalidBuffer;
	/* otherwise free_list_remove would decrement nfree below 0 */
	if (meta->nfree == 0)
		page_report_corruption(index, META_BLOCK,
							   "the free list is not as long as the metapage says");
	if (!page_is_readable(index, block))
		page_report_corruption(index, META_BLOCK,
							   "the free list leads to the metapage or past the end of the file");
	buffer = ReadBuffer(index, block);
	if ((page_opaque_unchecked(BufferGetPage(buffer))->flags & TREE_FREE_PAGE) == 0)
		page_report_corruption(index, block, "it is in the free list, but in use");
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	page_check(index, buffer);
	return buffer;
}

/*
 * Remove the first page from the list.  The page is still formatted as a free page.  `meta`
 * and `page` are in page images registered for one generic WAL record.
 */
void
free_list_remove(MetaPageData *meta, Page page)
{
	Assert(page_is_free(page));
	meta->free_page = TreePageGetOpaque(page)->right;
	meta->nfree--;
}

/*
 * Format a page as a free page, and add it at the front of the list.  `meta` and `page`
 * are in page images registered for one generic WAL record.
 */
void
free_list_add(MetaPageData *meta, Page page, BlockNumber block)
{
	TreePageOpaque opaque;

	page_init(page, 0, 0, &lowest_entry);
	opaque = TreePageGetOpaque(page);
	opaque->flags = TREE_FREE_PAGE;
	opaque->right = meta->free_page;
	meta->free_page = block;
	meta->nfree++;
}

/*
 * Return true if the list has as many pages as the metapage says, and all are free.
 * Otherwise returns false, with *at set to the damaged block, and *what to a description
 * of the damage.  Share-locks one page at a time.
 */
static bool
list_is_sound(Relation index, BlockNumber *at, const char **what)
{
	Buffer		buffer = meta_lock(index, BUFFER_LOCK_SHARE);
	MetaPageData *meta = MetaPageGetData(BufferGetPage(buffer));
	BlockNumber block = meta->free_page;
	uint32		n = meta->nfree;

	UnlockReleaseBuffer(buffer);
	*at = META_BLOCK;
	for (; n > 0 && block != InvalidBlockNumber; n--)
	{
		bool		is_free;

		CHECK_FOR_INTERRUPTS();
		*what = "the free list leads to the metapage or past the end of the file";
		if (!page_is_readable(index, block))
			return false;
		buffer = ReadBuffer(index, block);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		page_check(index, buffer);
		is_free = page_is_free(BufferGetPage(buffer));
		*at = block;
		block = TreePageGetOpaque(BufferGetPage(buffer))->right;
		UnlockReleaseBuffer(buffer);
		*what = "it is in the free list, but in use";
		if (!is_free)
			return false;
	}
	*what = "the free list is not as long as the metapage says";
	return n == 0 && block == InvalidBlockNumber;
}

/*
 * Check the list.  Raises an error if the list is damaged.
 *
 * Meanwhile other processes may add and remove pages at the front of the list.  So a list
 * that seems damaged is checked again, up to MAX_STALE_LINKS times.
 */
void
free_list_check(Relation index)
{
	BlockNumber block;
	const char *what;

	for (int retries = 0; !list_is_sound(index, &block, &what); retries++)
	{
		if (retries == MAX_STALE_LINKS)
			page_report_corruption(index, block, what);
	}
}
