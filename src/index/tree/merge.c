/*-------------------------------------------------------------------------
 *
 * merge.c
 *		Merges of pages
 *
 * A page whose entries fit into its left sibling moves there, and is free from then on.
 * That is one WAL record, of four pages: the parent loses a link, the left page gets the
 * entries and the upper bound, the page is emptied, and the list of free pages, which
 * begins in the metapage, gets it.  So at any time the pages of a level have all the
 * entries, each once, and between them every key.
 *
 * Both pages are children of one page: so a leftmost page is never merged into another,
 * and the root of a tree stays what it was.  A parent of one child is left until it is
 * merged itself.
 *
 * Only ambulkdelete merges pages, hence one process at a time.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "utils/rel.h"

#include "index/tree/descend.h"
#include "index/tree/free_list.h"
#include "index/tree/link.h"
#include "index/tree/merge.h"

/* Merged pages are at most so full, so that insertions do not split them at once. */
#define MERGE_PERCENT	70

/* The pages of a merge, pinned and exclusively locked, in this order. */
typedef struct Merge
{
	Buffer		parent;
	int			at;				/* of the page's link in the parent */
	Buffer		left;
	Buffer		page;
} Merge;

/*
 * The most entries that two pages may have to be merged.
 */
int
merge_limit(int level)
{
	return (level == 0 ? MAX_LEAF_ENTRIES : MAX_INNER_ENTRIES) * MERGE_PERCENT / 100;
}

static void
release_if_valid(Buffer *buffer)
{
	if (BufferIsValid(*buffer))
		UnlockReleaseBuffer(*buffer);
	*buffer = InvalidBuffer;
}

static void
merge_release(Merge *merge)
{
	release_if_valid(&merge->page);
	release_if_valid(&merge->left);
	release_if_valid(&merge->parent);
}

/*
 * Lock the parent, if it has links to the page and to a page before that.
 */
static bool
lock_parent(Relation index, const PageLink *link, Merge *merge)
{
	Page		page;
	Entry		bound;

	merge->parent = descend_to(index, link->tree, link->level + 1, &link->low_key,
							   BUFFER_LOCK_EXCLUSIVE);
	page = BufferGetPage(merge->parent);
	merge->at = page_search(page, page_nentries(page), &link->low_key);
	if (merge->at == 0 || merge->at == page_nentries(page))
		return false;
	bound = page_entry(page, merge->at);
	return entry_compare(&bound, &link->low_key) == 0 &&
		inner_child(page, merge->at) == link->block;
}

/*
 * Lock the left sibling, if the page is its right sibling by a split that is complete.
 */
static bool
lock_left(Relation index, const PageLink *link, Merge *merge)
{
	PageLink	left_link = page_downlink(BufferGetPage(merge->parent), merge->at - 1);
	Page		page;
	Entry		high_key;

	merge->left = page_follow_held(index, &left_link);
	page = BufferGetPage(merge->left);
	high_key = page_high_key(page);
	return !page_split_is_incomplete(page) && !page_is_rightmost(page) &&
		TreePageGetOpaque(page)->right == link->block &&
		entry_compare(&high_key, &link->low_key) == 0;
}

/*
 * Lock the page itself, if it is not being split.
 *
 * For a leaf that takes a cleanup lock, which is not waited for.  Who has a pin on the
 * leaf is a scan that relies on vacuum not having passed the leaf's TIDs, or an insertion
 * that is going to lock the leaf.  (Above the leaves nobody keeps a pin without a lock.)
 */
static bool
lock_page(Relation index, const PageLink *link, Merge *merge)
{
	Buffer		buffer = page_pin(index, link, InvalidBuffer, NULL);

	page_peek(index, buffer, link);
	if (link->level > 0)
		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	else if (!ConditionalLockBufferForCleanup(buffer))
	{
		ReleaseBuffer(buffer);
		return false;
	}
	merge->page = buffer;
	if (!page_matches(index, buffer, link))
		page_report_mismatch(index, link);
	return !page_split_is_incomplete(BufferGetPage(buffer));
}

/*
 * Remove a link from a page above the leaves.
 */
static void
remove_downlink(Page page, int at)
{
	int			n = page_nentries(page);

	memmove(page_keys(page) + at, page_keys(page) + at + 1,
			(n - 1 - at) * sizeof(uint64));
	memmove(inner_downlink(page, n - 2), inner_downlink(page, n - 1),
			(n - 1 - at) * sizeof(DownlinkData));
	page_set_count(page, n - 1);
}

/*
 * Move the entries of a page into its left sibling, in order.
 */
static void
move_left(Page left, Page page)
{
	TreePageOpaque left_opaque = TreePageGetOpaque(left);
	TreePageOpaque opaque = TreePageGetOpaque(page);
	PageItem	items[MAX_LEAF_ENTRIES];
	int			n = page_get_items(left, items);
	Entry		high_key = page_high_key(page);

	n += page_get_items(page, items + n);
	page_sort_items(items, n);
	page_set_items(left, items, n);
	left_opaque->right = opaque->right;
	page_set_high_key(left, &high_key);
}

/*
 * Write the record.
 */
static void
merge_pages(Relation index, const Merge *merge)
{
	Buffer		meta_buffer = meta_lock(index, BUFFER_LOCK_EXCLUSIVE);
	GenericXLogState *state = GenericXLogStart(index);
	Page		parent = GenericXLogRegisterBuffer(state, merge->parent, 0);
	Page		left = GenericXLogRegisterBuffer(state, merge->left, 0);
	Page		page = GenericXLogRegisterBuffer(state, merge->page,
												 GENERIC_XLOG_FULL_IMAGE);
	Page		meta = GenericXLogRegisterBuffer(state, meta_buffer, 0);

	remove_downlink(parent, merge->at);
	move_left(left, page);
	free_list_add(MetaPageGetData(meta), page, BufferGetBlockNumber(merge->page));
	GenericXLogFinish(state);
	UnlockReleaseBuffer(meta_buffer);
}

/*
 * Merge the page that a link leads to into its left sibling.  Returns false, having
 * done nothing, if that is not possible now: the two have no parent in common, or too
 * many entries, or one of them is being split, or a leaf is pinned.
 *
 * There is a level above the page.  The caller holds no lock, and is the only one who
 * merges pages of the index.
 */
bool
merge_into_left(Relation index, const PageLink *link)
{
	Merge		merge = {InvalidBuffer, 0, InvalidBuffer, InvalidBuffer};
	bool		possible = lock_parent(index, link, &merge) &&
		lock_left(index, link, &merge) &&
		lock_page(index, link, &merge) &&
		page_nentries(BufferGetPage(merge.left)) +
		page_nentries(BufferGetPage(merge.page)) <= merge_limit(link->level);

	if (possible)
		merge_pages(index, &merge);
	merge_release(&merge);
	return possible;
}
