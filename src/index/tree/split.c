/*-------------------------------------------------------------------------
 *
 * split.c
 *		Splits of pages
 *
 * A split is two WAL records: one moves half of the entries to a new right
 * sibling and marks the left page, the other puts the sibling's link into the
 * parent and takes the mark away.  Between the two nothing is locked; and a crash, an
 * error or a cancellation may come.  Searches still find everything, by stepping right;
 * the next writer who comes to the page, or past it, finishes the split first
 * (split_descend), and so does vacuum.
 *
 * So a page that a writer splits has a link, or is the root, and every page that is split
 * has a level above, but the root.
 *
 * Whoever holds the lock of a page waits only for pages to which its links lead, below
 * or to the right of it, then for the metapage, then for a new page: so nobody waits in
 * a circle, nor for a page by a link that may be stale.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "utils/rel.h"

#include "index/tree/descend.h"
#include "index/tree/extend.h"
#include "index/tree/free_list.h"
#include "index/tree/link.h"
#include "index/tree/meta.h"
#include "index/tree/split.h"

static void finish_split(Relation index, int tree, int level, const Entry *high_key);

/* A page about to be put into a tree. */
typedef struct NewPage
{
	Buffer		meta_buffer;	/* locked exclusively by the caller */
	Buffer		buffer;
	bool		was_free;		/* else the index has been extended by it */
} NewPage;

/*
 * Pin and lock a new page.
 */
static void
new_page_lock(Relation index, NewPage *new)
{
	new->buffer = free_list_take(index, new->meta_buffer);
	new->was_free = BufferIsValid(new->buffer);
	if (!new->was_free)
		new->buffer = page_new_buffer(index);
}

/*
 * Make the new page part of a record, in which the metapage already is if the page comes
 * from the list of free pages: returns the page, still to be formatted.
 */
static Page
new_page_register(GenericXLogState *state, const NewPage *new, MetaPageData *meta)
{
	Page		page = GenericXLogRegisterBuffer(state, new->buffer,
												 GENERIC_XLOG_FULL_IMAGE);

	if (new->was_free)
		free_list_remove(meta, page);
	return page;
}

static MetaPageData *
meta_register(GenericXLogState *state, Buffer meta_buffer)
{
	return MetaPageGetData(GenericXLogRegisterBuffer(state, meta_buffer, 0));
}

static void
clear_incomplete_split(GenericXLogState *state, Buffer buffer)
{
	Page		page = GenericXLogRegisterBuffer(state, buffer, 0);

	TreePageGetOpaque(page)->flags &= ~TREE_INCOMPLETE_SPLIT;
}

/*
 * Divide n items, which are those of a page and one more, between the page and its new
 * right sibling: the first nleft stay.
 */
static void
divide_page(Page left, Page right, BlockNumber right_block,
			const PageItem *items, int n, int nleft)
{
	TreePageOpaque opaque = TreePageGetOpaque(left);
	const Entry *high_key = &items[nleft].entry;
	Entry		old_high_key = page_high_key(left);

	page_init(right, opaque->tree, opaque->level, high_key);
	TreePageGetOpaque(right)->right = opaque->right;
	page_set_high_key(right, &old_high_key);
	page_set_items(right, items + nleft, n - nleft);

	opaque->right = right_block;
	opaque->flags |= TREE_INCOMPLETE_SPLIT;
	page_set_high_key(left, high_key);
	page_set_items(left, items, nleft);
}

static inline bool
is_entry(const PageItem *item, const Entry *entry)
{
	return entry_compare(&item->entry, entry) == 0;
}

/*
 * Whether entries come to a leaf in ascending order at one place: the last two entries
 * that the leaf got stand directly before the new one, which is items[at].
 */
static bool
ascends_locally(Page page, const PageItem *items, int at)
{
	int			n = page_nentries(page);
	Entry		last;
	Entry		last_but_one;

	if (!page_is_leaf(page) || at < 2 || n < TreePageGetOpaque(page)->nsorted + 2)
		return false;
	last = page_entry(page, n - 1);
	last_but_one = page_entry(page, n - 2);
	return is_entry(&items[at - 1], &last) && is_entry(&items[at - 2], &last_but_one);
}

/*
 * How many of n items, in order, which are those of a page and the new entry, stay on
 * the left page: half of them, unless entries are coming in ascending order, as those of
 * rows with equal fingerprints do.  Where they come to the end of the page, the left page
 * stays nearly full.  Where they come before other entries, the others go to the right
 * page, so that the entries to come find the end of a page (as in nbtree,
 * _bt_afternewitemoff); unless the left page would stay less than half full.
 */
static int
choose_division(Page page, const PageItem *items, int n, const Entry *entry)
{
	int			at = n - 1;

	while (!is_entry(&items[at], entry))
		at--;
	if (at == n - 1)
		return n * 9 / 10;
	return at + 1 > n / 2 && ascends_locally(page, items, at) ? at + 1 : n / 2;
}

/*
 * Split a full page, adding an entry.
 *
 * The buffer is pinned and exclusively locked; the pin and the lock are given up.  Above
 * the leaves the entry is the link to `child`, and child_buffer is the child's left
 * sibling, locked by the caller, whose split this link completes; its pin and its lock
 * are given up, too.
 */
void
split_insert(Relation index, Buffer buffer, const Entry *entry,
			 BlockNumber child, Buffer child_buffer)
{
	Page		page = BufferGetPage(buffer);
	int			tree = TreePageGetOpaque(page)->tree;
	int			level = TreePageGetOpaque(page)->level;
	PageItem   *items = palloc((page_nentries(page) + 1) * sizeof(PageItem));
	int			n = page_get_items(page, items);
	int			nleft;
	Entry		high_key;
	NewPage		new;
	GenericXLogState *state;
	MetaPageData *meta;
	Page		right;

	Assert(!page_split_is_incomplete(page));
	items[n].entry = *entry;
	items[n++].child = child;
	page_sort_items(items, n);
	nleft = choose_division(page, items, n, entry);
	high_key = items[nleft].entry;

	new.meta_buffer = meta_lock(index, BUFFER_LOCK_EXCLUSIVE);
	new_page_lock(index, &new);
	state = GenericXLogStart(index);
	page = GenericXLogRegisterBuffer(state, buffer, 0);
	meta = new.was_free ? meta_register(state, new.meta_buffer) : NULL;
	right = new_page_register(state, &new, meta);
	divide_page(page, right, BufferGetBlockNumber(new.buffer), items, n, nleft);
	if (BufferIsValid(child_buffer))
		clear_incomplete_split(state, child_buffer);
	GenericXLogFinish(state);

	UnlockReleaseBuffer(new.buffer);
	UnlockReleaseBuffer(new.meta_buffer);
	if (BufferIsValid(child_buffer))
		UnlockReleaseBuffer(child_buffer);
	UnlockReleaseBuffer(buffer);
	pfree(items);
	finish_split(index, tree, level, &high_key);
}

static bool
has_parent_level(Relation index, int tree, int level)
{
	return meta_get(index)->root[tree].level > level ||
		meta_reread(index)->root[tree].level > level;
}

/*
 * Put a new root above a page that is marked, and its right sibling.  The metapage is
 * locked, too.
 */
static void
put_root_above(Relation index, Buffer buffer, Buffer meta_buffer)
{
	Page		page = BufferGetPage(buffer);
	TreePageOpaque opaque = TreePageGetOpaque(page);
	Entry		low_key = page_low_key(page);
	Entry		high_key = page_high_key(page);
	NewPage		new = {.meta_buffer = meta_buffer};
	GenericXLogState *state;
	MetaPageData *meta;
	Page		root;

	new_page_lock(index, &new);
	state = GenericXLogStart(index);
	clear_incomplete_split(state, buffer);
	meta = meta_register(state, meta_buffer);
	root = new_page_register(state, &new, meta);
	page_init(root, opaque->tree, opaque->level + 1, &low_key);
	page_append(root, &low_key, BufferGetBlockNumber(buffer));
	page_append(root, &high_key, opaque->right);
	meta->root[opaque->tree].block = BufferGetBlockNumber(new.buffer);
	meta->root[opaque->tree].level = opaque->level + 1;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(new.buffer);
}

/*
 * Finish the split of the root, unless somebody else has meanwhile.  The caller holds
 * no lock.
 */
static void
split_root(Relation index, int tree, int level)
{
	Entry		lowest = lowest_entry();
	Buffer		buffer = descend_arrive(index, tree, level, &lowest,
										BUFFER_LOCK_EXCLUSIVE);
	Buffer		meta_buffer = meta_lock(index, BUFFER_LOCK_EXCLUSIVE);
	MetaPageData *meta = MetaPageGetData(BufferGetPage(meta_buffer));

	if (meta->root[tree].level == level)
	{
		if (!page_split_is_incomplete(BufferGetPage(buffer)))
			page_report_corruption(index, BufferGetBlockNumber(buffer),
								   "it is a root, but has a right sibling");
		put_root_above(index, buffer, meta_buffer);
	}
	UnlockReleaseBuffer(meta_buffer);
	UnlockReleaseBuffer(buffer);
}

/*
 * Insert a link into a page above the leaves that is not full.
 */
static void
insert_downlink(Page page, const Entry *entry, BlockNumber child)
{
	int			n = page_nentries(page);
	int			at = page_search(page, n, entry);

	page_append(page, entry, child);
	memmove(page_keys(page) + at + 1, page_keys(page) + at,
			(n - at) * sizeof(uint64));
	memmove(inner_downlink(page, n), inner_downlink(page, n - 1),
			(n - at) * sizeof(DownlinkData));
	page_keys(page)[at] = entry->key;
	inner_downlink(page, at)->tid = entry->tid;
	BlockIdSet(&inner_downlink(page, at)->child, child);
}

/*
 * Lock the page whose split is to be finished by putting the bound of its right sibling
 * into the parent, which is locked.  Returns InvalidBuffer if there is nothing to do.
 */
static Buffer
lock_incomplete_child(Relation index, Page parent, const Entry *high_key)
{
	int			n = page_nentries(parent);
	int			at = page_search(parent, n, high_key);
	Entry		found = at < n ? page_entry(parent, at) : lowest_entry();
	PageLink	link;
	Buffer		left;
	Entry		left_high_key;

	/* somebody else may have put the bound in */
	if (at == 0 || (at < n && entry_compare(&found, high_key) == 0))
		return InvalidBuffer;
	link = page_downlink(parent, at - 1);
	left = page_follow_held(index, &link);
	left_high_key = page_high_key(BufferGetPage(left));
	if (page_split_is_incomplete(BufferGetPage(left)) &&
		entry_compare(&left_high_key, high_key) == 0)
		return left;

	/* and the right page may have been merged into the left one since */
	UnlockReleaseBuffer(left);
	return InvalidBuffer;
}

/*
 * Put the bound of a marked page's right sibling into the parent, which is not full.
 */
static void
complete_split(Relation index, Buffer parent, Buffer left, const Entry *high_key)
{
	BlockNumber right = TreePageGetOpaque(BufferGetPage(left))->right;
	GenericXLogState *state = GenericXLogStart(index);

	insert_downlink(GenericXLogRegisterBuffer(state, parent, 0), high_key, right);
	clear_incomplete_split(state, left);
	GenericXLogFinish(state);
}

/*
 * Put the link in, if there is a marked page that lacks it, and unlock both pages.
 */
static void
complete_and_unlock(Relation index, Buffer parent, Buffer left, const Entry *high_key)
{
	if (BufferIsValid(left))
	{
		complete_split(index, parent, left, high_key);
		UnlockReleaseBuffer(left);
	}
	UnlockReleaseBuffer(parent);
}

/*
 * Finish the split of the page of a level that ends at a bound, unless somebody else
 * has meanwhile.  The caller holds no lock.
 */
static void
finish_split(Relation index, int tree, int level, const Entry *high_key)
{
	Buffer		parent;
	Buffer		left;

	while (!has_parent_level(index, tree, level))
		split_root(index, tree, level);
	parent = split_descend(index, tree, level + 1, high_key);
	left = lock_incomplete_child(index, BufferGetPage(parent), high_key);
	if (BufferIsValid(left) && page_is_full(BufferGetPage(parent)))
		split_insert(index, parent, high_key,
					 TreePageGetOpaque(BufferGetPage(left))->right, left);
	else
		complete_and_unlock(index, parent, left, high_key);
}

/*
 * Finish a split as finish_split does, for vacuum: but only if that needs no new page.
 * Where the disk is full, vacuum is what may help.
 */
void
split_finish_in_place(Relation index, int tree, int level, const Entry *high_key)
{
	Buffer		parent;
	Buffer		left = InvalidBuffer;

	if (!has_parent_level(index, tree, level))
		return;
	parent = descend_to(index, tree, level + 1, high_key, BUFFER_LOCK_EXCLUSIVE);
	if (!page_is_full(BufferGetPage(parent)))
		left = lock_incomplete_child(index, BufferGetPage(parent), high_key);
	complete_and_unlock(index, parent, left, high_key);
}

/*
 * Descend to the page of a level in which an entry is to be inserted.  Returns it
 * pinned and exclusively locked.  The caller holds no lock.
 *
 * A split that was left incomplete is finished here, by the process that comes to the
 * left page, before it steps to the right one.  Then the descent begins anew, because the
 * new link has changed the level above.
 */
Buffer
split_descend(Relation index, int tree, int level, const Entry *entry)
{
	Entry		finished = lowest_entry();	/* no page ends there */
	int			nfinishes = 0;

	for (;;)
	{
		Buffer		buffer = descend_for_insertion(index, tree, level, entry);
		Entry		high_key = page_high_key(BufferGetPage(buffer));

		if (!page_split_is_incomplete(BufferGetPage(buffer)))
			return buffer;
		nfinishes = entry_compare(&high_key, &finished) == 0 ? nfinishes + 1 : 0;
		if (nfinishes > MAX_STALE_LINKS)
			page_report_corruption(index, BufferGetBlockNumber(buffer),
								   "its split is marked as incomplete, though it is not");
		finished = high_key;
		UnlockReleaseBuffer(buffer);
		finish_split(index, tree, level, &high_key);
	}
}
