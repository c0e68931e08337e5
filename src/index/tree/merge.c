/*
 * Merges of pages
 *
 * If the entries of a page fit on its left sibling, a merge moves the entries there, and
 * the page becomes free, in one WAL record (Merges in src/index/README.md).  So at any time the
 * pages of a level contain each entry once, and cover all keys.
 *
 * Both pages must be children of one parent.  A leftmost page is never merged into
 * another, so the root of a tree stays the root.  The only child of a parent cannot be
 * merged until its parent has been merged.
 *
 * Only ambulkdelete merges pages, so only one process at a time merges pages of an index.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/generic_xlog.h"

#include "index/tree/tree.h"

/*
 * Maximum fill of the left sibling after a merge, in percent.  The free space keeps
 * insertions from splitting that page at once.
 */
#define MERGE_PERCENT	70

/*
 * The pages of a merge.  They are pinned and exclusively locked in this order, and are
 * InvalidBuffer before that.
 */
typedef struct Merge
{
	Buffer		parent;
	int			at;				/* position of the page's downlink in the parent */
	Buffer		left;			/* left sibling of the page */
	Buffer		page;			/* the page to merge away */
} Merge;

/*
 * Return the maximum total number of entries of two pages of a level that may be merged.
 */
int
merge_limit(int level)
{
	return (level == 0 ? MAX_LEAF_ENTRIES : MAX_INNER_ENTRIES) * MERGE_PERCENT / 100;
}

/*
 * Pin and exclusively lock the parent of the page that a link leads to.  Sets merge->at.
 * Returns true if the parent has a downlink to the page, and this is not the parent's first
 * downlink.  Leaves the parent locked in any case.
 */
static bool
lock_parent(Relation index, const PageLink *link, Merge *merge)
{
	Page		page;
	Entry		downlink_key;

	merge->parent = descend_to(index, link->tree, link->level + 1, &link->low_key,
							   BUFFER_LOCK_EXCLUSIVE);
	page = BufferGetPage(merge->parent);
	merge->at = page_search(page, page_nentries(page), &link->low_key);
	if (merge->at == 0 || merge->at == page_nentries(page))
		return false;
	downlink_key = page_entry(page, merge->at);
	return entry_compare(&downlink_key, &link->low_key) == 0 &&
		inner_child(page, merge->at) == link->block;
}

/*
 * Pin and exclusively lock the left sibling.  The parent is locked.  Returns true if the
 * right-link and the high key of the left sibling match the page's link, and the left
 * sibling does not have the incomplete-split flag.  Leaves both pages locked in any case.
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
 * Pin and lock the page itself.  The parent and the left sibling are locked.  Returns
 * true if the page does not have the incomplete-split flag.
 *
 * An inner page is locked exclusively.  A leaf is locked for cleanup, without waiting.  So
 * this returns false, with the leaf not pinned, if another process has a pin on the leaf
 * (free_list.c).
 */
static bool
lock_page(Relation index, const PageLink *link, Merge *merge)
{
	Buffer		buffer = page_pin(index, link, NULL);

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
 * Remove the downlink at position `at` from an inner page.
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
 * Copy the entries, the right-link and the high key of a page to its left sibling.  Sorts
 * all entries of the left sibling.
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
	page_sort_items(items, page_nsorted(left), n);
	page_set_items(left, items, n);
	left_opaque->right = opaque->right;
	page_set_high_key(left, &high_key);
}

/*
 * Merge the locked pages, in one WAL record.  Exclusively locks the metapage meanwhile.
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
 * Merge the page that a link leads to into its left sibling.  Returns true if the pages
 * have been merged.
 *
 * Returns false, with nothing changed, if the pages cannot be merged now.  That is so if
 * they have different parents or too many entries, if one of them has the incomplete-split
 * flag, or if the page is a leaf that another process has pinned.
 *
 * The page must have a parent level.  The caller must not hold the lock of any page, and
 * must be the only process that merges pages of the index.
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
	if (BufferIsValid(merge.page))
		UnlockReleaseBuffer(merge.page);
	if (BufferIsValid(merge.left))
		UnlockReleaseBuffer(merge.left);
	UnlockReleaseBuffer(merge.parent);
	return possible;
}
