/*
 * Splits of pages
 *
 * A split is two WAL records.  The first moves half of the entries to a new right
 * sibling, and sets the incomplete-split flag of the left page.  The second inserts the
 * downlink of the sibling into the parent, and clears the flag.
 *
 * No page is locked between the two records.  A crash, an error or a cancellation may
 * happen between them.  Searches still find every entry, by moving right.  The next writer
 * that reaches the left page, also on its way to the right, finishes the split first
 * (split_descend).  A writer that holds several leaves must not, because it would wait for
 * inner pages.  It ends its record before the left page.  The next entry is inserted alone,
 * and that finishes the split.  Vacuum also finishes the split, if that needs no new page.
 * Otherwise the two pages could not be merged before an insertion reaches the left one, and
 * perhaps none ever does.
 *
 * Invariant: a page is split only if it is the root or already has a downlink.  So every
 * page that is split, except the root, has a parent level.
 *
 * So the following holds, whatever prefix of the WAL has been replayed.  A is the page that
 * was split, and C its new right sibling:
 *
 *	- A writer does not reach a page without a downlink.  The only way there leads past
 *	  its left sibling, which has the flag until the downlink exists.  There is one
 *	  exception.  A writer reads a link to C, and C is merged away.  Then A is split
 *	  again, and its right half is in the same block and has the same low key as before.
 *	  The link matches this page, which may not have a downlink yet.  If the writer
 *	  splits it, A and C both have the flag.  To finish the split of C, a process follows
 *	  the last downlink before the high key of C.  This leads to A, which has another
 *	  high key, so it changes nothing.  Then it, or the next writer, descends and reaches
 *	  A first.
 *	- A page that is split has a downlink or is the root, but for that exception, where C
 *	  had a downlink before.  So there is a level above it, or the writer that split the
 *	  root adds one.  Otherwise rows that always go to the right of a root whose split is
 *	  incomplete (equal fingerprints, NULLs) could make a chain of pages without
 *	  downlinks.
 *	- A page with the flag gets no entries from writers, is not split again, and not
 *	  merged, and neither is its right sibling merged into it.  (Vacuum may insert a
 *	  downlink into an inner page with the flag.  That changes neither its high key nor
 *	  its flag.)  So the flag always belongs to the last split of the page.
 *	- An error while a split is finished leaves the flag, and no other damage.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "index/tree/tree.h"

static void finish_split(Relation index, int tree, int level, const Entry *high_key);

/* A new page, before it is in a tree. */
typedef struct NewPage
{
	Buffer		meta_buffer;	/* metapage, exclusively locked by the caller */
	Buffer		buffer;			/* the new page, exclusively locked */
	bool		was_free;		/* true if the page comes from the free list, false
								 * if the index was extended by it */
} NewPage;

/*
 * Pin and exclusively lock a new page.  Takes the first free page, or extends the index by a
 * page, all zeros, if there is none.  Takes the extension lock for that, unless no other
 * session can access the index (RELATION_IS_LOCAL).  The caller holds the exclusive lock of
 * the metapage (new->meta_buffer).
 */
static void
new_page_lock(Relation index, NewPage *new)
{
	bool		need_lock = !RELATION_IS_LOCAL(index);

	new->buffer = free_list_take(index, new->meta_buffer);
	new->was_free = BufferIsValid(new->buffer);
	if (new->was_free)
		return;
	if (need_lock)
		LockRelationForExtension(index, ExclusiveLock);
	new->buffer = ReadBuffer(index, P_NEW);
	LockBuffer(new->buffer, BUFFER_LOCK_EXCLUSIVE);
	if (need_lock)
		UnlockRelationForExtension(index, ExclusiveLock);
}

/*
 * Register a new page for a WAL record, and return its image, which is not formatted yet.
 * If the page comes from the free list, also registers the metapage, unless that has been
 * done, and removes the page from the list.
 */
static Page
new_page_register(GenericXLogState *state, const NewPage *new)
{
	Page		meta = new->was_free ?
		GenericXLogRegisterBuffer(state, new->meta_buffer, 0) : NULL;
	Page		page = GenericXLogRegisterBuffer(state, new->buffer,
												 GENERIC_XLOG_FULL_IMAGE);

	if (meta)
		free_list_remove(MetaPageGetData(meta), page);
	return page;
}

/*
 * Register a page for a WAL record, and clear its incomplete-split flag.
 */
static void
clear_incomplete_split(GenericXLogState *state, Buffer buffer)
{
	Page		page = GenericXLogRegisterBuffer(state, buffer, 0);

	TreePageGetOpaque(page)->flags &= ~TREE_INCOMPLETE_SPLIT;
}

/*
 * Divide n sorted items between a page and its new right sibling.  The items are the
 * entries of the page and a new entry.  The first nleft items go on the left page.  Sets
 * the incomplete-split flag of the left page.
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

/*
 * Return true if the entry of an item is equal to `entry`.
 */
static inline bool
is_entry(const PageItem *item, const Entry *entry)
{
	return entry_compare(&item->entry, entry) == 0;
}

/*
 * Return true if entries seem to be inserted in ascending order at one position of a leaf.
 * That is so if the two entries inserted last are directly before the new entry, items[at].
 * Returns false for an inner page.
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
 * Return how many of n sorted items go on the left page of a split.  The items are the
 * entries of the page and the new entry.
 *
 * Usually that is half of the items.  If the new entry is the last item, it is 90 percent,
 * because entries may be inserted in ascending order, as those of rows with equal
 * fingerprints are.
 *
 * If entries are inserted in ascending order before other entries, the items up to the new
 * entry go on the left page.  Then the next entries are inserted at the end of a page (as
 * in nbtree, _bt_afternewitemoff).  This is done only if more than half of the items go on
 * the left page.
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
 * Split a full page, insert an entry, and finish the split.
 *
 * The caller holds a pin and the exclusive lock of the buffer.  Both are released.
 *
 * On an inner page, the entry is the key of the downlink to `child`.  child_buffer is the
 * left sibling of the child, pinned and exclusively locked by the caller.  The new downlink
 * completes the split of that sibling, so its incomplete-split flag is cleared.  The pin
 * and the lock of the sibling are released, too.  On a leaf, `child` is InvalidBlockNumber
 * and child_buffer is InvalidBuffer.
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
	Page		right;

	Assert(!page_split_is_incomplete(page));
	items[n].entry = *entry;
	items[n++].child = child;
	page_sort_items(items, page_nsorted(page), n);
	nleft = choose_division(page, items, n, entry);
	high_key = items[nleft].entry;

	new.meta_buffer = meta_lock(index, BUFFER_LOCK_EXCLUSIVE);
	new_page_lock(index, &new);
	state = GenericXLogStart(index);
	page = GenericXLogRegisterBuffer(state, buffer, 0);
	right = new_page_register(state, &new);
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

/*
 * Return true if a tree has a level above `level`.  Rereads the metapage before it returns
 * false.
 */
static bool
has_parent_level(Relation index, int tree, int level)
{
	return meta_get(index)->root[tree].level > level ||
		meta_reread(index)->root[tree].level > level;
}

/*
 * Create a new root above the old root and the old root's right sibling.  The old root has
 * the incomplete-split flag, which is cleared.  The caller holds the exclusive locks of the
 * old root and the metapage, and keeps them.
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
	meta = MetaPageGetData(GenericXLogRegisterBuffer(state, meta_buffer, 0));
	root = new_page_register(state, &new);
	page_init(root, opaque->tree, opaque->level + 1, &low_key);
	page_append(root, &low_key, BufferGetBlockNumber(buffer));
	page_append(root, &high_key, opaque->right);
	meta->root[opaque->tree].block = BufferGetBlockNumber(new.buffer);
	meta->root[opaque->tree].level = opaque->level + 1;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(new.buffer);
}

/*
 * Finish the split of the root, unless another process has done so.  The caller must not
 * hold the lock of any page.
 */
static void
split_root(Relation index, int tree, int level)
{
	Buffer		buffer = descend_arrive(index, tree, level, &lowest_entry,
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
 * Insert a downlink into an inner page that is not full.
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
 * Pin and exclusively lock the child that has this high key and the incomplete-split flag,
 * and return its buffer.  The caller holds the lock of the parent.  Returns InvalidBuffer
 * if there is no such child, because the split has been finished.
 */
static Buffer
lock_incomplete_child(Relation index, Page parent, const Entry *high_key)
{
	int			n = page_nentries(parent);
	int			at = page_search(parent, n, high_key);
	Entry		found = at < n ? page_entry(parent, at) : lowest_entry;
	PageLink	link;
	Buffer		left;
	Entry		left_high_key;

	/* another process may have inserted the downlink */
	if (at == 0 || (at < n && entry_compare(&found, high_key) == 0))
		return InvalidBuffer;
	link = page_downlink(parent, at - 1);
	left = page_follow_held(index, &link);
	left_high_key = page_high_key(BufferGetPage(left));
	if (page_split_is_incomplete(BufferGetPage(left)) &&
		entry_compare(&left_high_key, high_key) == 0)
		return left;

	/* the downlink may have been inserted, and the right page merged since */
	UnlockReleaseBuffer(left);
	return InvalidBuffer;
}

/*
 * Insert a downlink to the left page's right sibling into the parent, which must not be
 * full, and clear the left page's incomplete-split flag, in one WAL record.  `high_key` is
 * the high key of the left page.  The caller holds the exclusive locks of both pages, which
 * are unlocked and unpinned.  If `left` is InvalidBuffer, only unlocks and unpins the parent.
 */
static void
complete_and_unlock(Relation index, Buffer parent, Buffer left, const Entry *high_key)
{
	if (BufferIsValid(left))
	{
		BlockNumber right = TreePageGetOpaque(BufferGetPage(left))->right;
		GenericXLogState *state = GenericXLogStart(index);

		insert_downlink(GenericXLogRegisterBuffer(state, parent, 0), high_key, right);
		clear_incomplete_split(state, left);
		GenericXLogFinish(state);
		UnlockReleaseBuffer(left);
	}
	UnlockReleaseBuffer(parent);
}

/*
 * Finish the split of the page on this level that has this high key, unless another process
 * has done so.  The caller must not hold the lock of any page.
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
 * Finish a split as finish_split does, but only if that needs no new page, as vacuum must work
 * on a full disk.  The caller must not hold the lock of any page.
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
 * Descend to the page of this level into which an entry will be inserted.  Returns that
 * page pinned and exclusively locked.  The page does not have the incomplete-split flag.
 * The caller must not hold the lock of any page.
 *
 * If the descent reaches a page of the level that has the flag, finishes the split of that
 * page, and descends again.
 */
Buffer
split_descend(Relation index, int tree, int level, const Entry *entry)
{
	Entry		finished = lowest_entry;	/* not the high key of any page */
	int			nfinishes = 0;

	for (;;)
	{
		Buffer		buffer = descend_arrive(index, tree, level, entry, BUFFER_LOCK_EXCLUSIVE);
		Entry		high_key;

		buffer = descend_move_right(index, buffer, entry, BUFFER_LOCK_EXCLUSIVE, true);
		high_key = page_high_key(BufferGetPage(buffer));
		if (!page_split_is_incomplete(BufferGetPage(buffer)))
			return buffer;
		nfinishes = entry_compare(&high_key, &finished) == 0 ? nfinishes + 1 : 0;
		if (nfinishes > MAX_STALE_LINKS)
			page_report_corruption(index, BufferGetBlockNumber(buffer),
								   "it has the incomplete-split flag, but its split is complete");
		finished = high_key;
		UnlockReleaseBuffer(buffer);
		finish_split(index, tree, level, &high_key);
	}
}
