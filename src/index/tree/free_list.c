/*-------------------------------------------------------------------------
 *
 * free_list.c
 *		The pages that are in no tree
 *
 * A page that was merged into its left sibling is put in front of a list, which begins
 * in the metapage; a split takes one from there.  Both are part of the record that
 * merges or splits, so that a crash neither loses a page nor hands it out twice (a
 * free space map may do both).
 *
 * A page may be used again at once: whoever still comes to it by an old link finds that
 * the link is stale (page_matches).
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "index/tree/free_list.h"
#include "index/tree/link.h"

/*
 * The first free page, pinned and exclusively locked; or InvalidBuffer if there is
 * none.  The metapage is exclusively locked, and stays so until the page has been
 * removed from the list, in the record that puts it into a tree.
 *
 * A process that came to the page by a stale link may hold the page's lock, but then it
 * waits for no other lock.  A damaged list could lead to a page in use, even to one that
 * the caller holds: so the lock is waited for only after a look at the page.
 */
Buffer
free_list_take(Relation index, Buffer meta_buffer)
{
	const MetaPageData *meta = MetaPageGetData(BufferGetPage(meta_buffer));
	BlockNumber block = meta->free_page;
	Buffer		buffer;

	if (block == InvalidBlockNumber)
		return InvalidBuffer;
	/* else removing the page would make the number wrap around */
	if (meta->nfree == 0)
		page_report_corruption(index, META_BLOCK,
							   "the list of free pages is not as long as the metapage says");
	if (!page_is_readable(index, block))
		page_report_corruption(index, META_BLOCK,
							   "the list of free pages leads where none is");
	buffer = ReadBuffer(index, block);
	if ((page_opaque_unchecked(BufferGetPage(buffer))->flags & TREE_FREE_PAGE) == 0)
		page_report_corruption(index, block, "it is in the list of free pages, but in use");
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	page_check(index, buffer);
	return buffer;
}

/*
 * Remove the first page from the list, before it is formatted.  The pages are those of a
 * record of generic WAL.
 */
void
free_list_remove(MetaPageData *meta, Page page)
{
	Assert(page_is_free(page));
	meta->free_page = TreePageGetOpaque(page)->right;
	meta->nfree--;
}

/*
 * Make a page a free one, the first in the list.  The pages are those of a record of
 * generic WAL.
 */
void
free_list_add(MetaPageData *meta, Page page, BlockNumber block)
{
	Entry		lowest = lowest_entry();
	TreePageOpaque opaque;

	page_init(page, 0, 0, &lowest);
	opaque = TreePageGetOpaque(page);
	opaque->flags = TREE_FREE_PAGE;
	opaque->right = meta->free_page;
	meta->free_page = block;
	meta->nfree++;
}

/*
 * Whether the list has as many pages as the metapage says, all of them free.  Otherwise
 * *at and *what say in which block it is damaged, and how.
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
		*what = "the list of free pages leads where none is";
		if (!page_is_readable(index, block))
			return false;
		buffer = ReadBuffer(index, block);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		page_check(index, buffer);
		is_free = page_is_free(BufferGetPage(buffer));
		*at = block;
		block = TreePageGetOpaque(BufferGetPage(buffer))->right;
		UnlockReleaseBuffer(buffer);
		*what = "it is in the list of free pages, but in use";
		if (!is_free)
			return false;
	}
	*what = "the list of free pages is not as long as the metapage says";
	return n == 0 && block == InvalidBlockNumber;
}

/*
 * Check the list.  Meanwhile others may take pages from its front, and add pages there:
 * so a list that seems damaged is looked at again.
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
