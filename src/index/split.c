/*-------------------------------------------------------------------------
 *
 * split.c
 *		Splits of pages
 *
 * A split is two WAL records: one moves half of the entries to a new right
 * sibling and marks the left page, the other puts the sibling's link into the
 * parent and takes the mark away.  The left page stays locked meanwhile, so whoever
 * sees a mark knows that a crash or an error came between the two.  Searches still
 * find everything, by stepping right; the next writer who comes to the page, or
 * past it, finishes the split first (split_descend).
 *
 * So no writer ever comes to a page that has no link: what it splits has one, or is
 * the root; the marks of a level never stand side by side; and there is a level
 * above all that are split but the root.
 *
 * Whoever holds the lock of a page may lock pages above it, never below, and no
 * other of its level, but a new one: so nobody waits in a circle.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "utils/rel.h"

#include "index/insert.h"
#include "index/meta.h"
#include "index/search.h"

/* An entry, and the child that it is the bound of. */
typedef struct SplitEntry
{
	Entry		entry;
	BlockNumber child;
} SplitEntry;

static int
compare_split_entries(const void *a, const void *b)
{
	return entry_compare(&((const SplitEntry *) a)->entry,
						 &((const SplitEntry *) b)->entry);
}

/*
 * The entries of a page and one more, in order.  *last says whether the one
 * more comes last.
 */
static SplitEntry *
collect_entries(Page page, const Entry *entry, BlockNumber child, bool *last)
{
	int			n = page_nentries(page);
	SplitEntry *entries = palloc((n + 1) * sizeof(SplitEntry));

	for (int i = 0; i < n; i++)
	{
		entries[i].entry = page_entry(page, i);
		entries[i].child = page_is_leaf(page) ? InvalidBlockNumber :
			inner_child(page, i);
	}
	entries[n].entry = *entry;
	entries[n].child = child;
	qsort(entries, n + 1, sizeof(SplitEntry), compare_split_entries);
	*last = entry_compare(&entries[n].entry, entry) == 0;
	return entries;
}

/*
 * Replace the entries of a page by n others, which are in order.
 */
static void
fill_page(Page page, const SplitEntry *entries, int n)
{
	page_set_count(page, 0);
	for (int i = 0; i < n; i++)
		page_append(page, &entries[i].entry, entries[i].child);
	TreePageGetOpaque(page)->nsorted = page_is_leaf(page) ? n : 0;
}

static void finish_split(Relation index, Buffer buffer);

static void
clear_split_mark(GenericXLogState *state, Buffer buffer)
{
	Page		page = GenericXLogRegisterBuffer(state, buffer, 0);

	TreePageGetOpaque(page)->flags &= ~TREE_INCOMPLETE_SPLIT;
}

/*
 * Split a full page, adding an entry.
 *
 * The buffer is pinned and exclusively locked; both are given up.  Above the
 * leaves, `child` is the entry's, and child_buffer is its left sibling, locked
 * by the caller, whose split this completes.
 *
 * Where the new entry comes last, entries are probably coming in order (rows
 * of equal fingerprints do), and the left page is left nearly full.
 */
void
split_insert(Relation index, Buffer buffer, const Entry *entry,
			 BlockNumber child, Buffer child_buffer)
{
	Page		page = BufferGetPage(buffer);
	int			n = page_nentries(page) + 1;
	bool		ascending;
	SplitEntry *entries = collect_entries(page, entry, child, &ascending);
	int			nleft = ascending ? n * 9 / 10 : n / 2;
	Buffer		right_buffer = page_new_buffer(index);
	GenericXLogState *state = GenericXLogStart(index);
	Page		left = GenericXLogRegisterBuffer(state, buffer, 0);
	Page		right = GenericXLogRegisterBuffer(state, right_buffer,
												  GENERIC_XLOG_FULL_IMAGE);
	TreePageOpaque left_opaque = TreePageGetOpaque(left);
	TreePageOpaque right_opaque;
	Entry		high;

	Assert(!page_split_is_incomplete(left));
	page_init(right, left_opaque->tree, left_opaque->level);
	right_opaque = TreePageGetOpaque(right);
	right_opaque->right = left_opaque->right;
	high = page_high(left);
	page_set_high(right, &high);
	fill_page(right, entries + nleft, n - nleft);

	left_opaque->right = BufferGetBlockNumber(right_buffer);
	left_opaque->flags |= TREE_INCOMPLETE_SPLIT;
	page_set_high(left, &entries[nleft].entry);
	fill_page(left, entries, nleft);

	if (BufferIsValid(child_buffer))
		clear_split_mark(state, child_buffer);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(right_buffer);
	pfree(entries);

	finish_split(index, buffer);
}

/*
 * Put a new root above a page that was split and is the root.  Returns false
 * if it is not.
 */
static bool
split_root(Relation index, Buffer buffer, const Entry *bound, BlockNumber right)
{
	TreePageOpaque opaque = TreePageGetOpaque(BufferGetPage(buffer));
	Buffer		meta_buffer = ReadBuffer(index, META_BLOCK);
	Buffer		root_buffer;
	GenericXLogState *state;
	MetaPageData *meta;
	Page		root;
	Entry		minus_infinity = entry_before(0);

	LockBuffer(meta_buffer, BUFFER_LOCK_EXCLUSIVE);
	meta = meta_page_check(index, meta_buffer);
	if (meta->root[opaque->tree].block != BufferGetBlockNumber(buffer))
	{
		UnlockReleaseBuffer(meta_buffer);
		return false;
	}

	root_buffer = page_new_buffer(index);
	state = GenericXLogStart(index);
	clear_split_mark(state, buffer);
	root = GenericXLogRegisterBuffer(state, root_buffer, GENERIC_XLOG_FULL_IMAGE);
	page_init(root, opaque->tree, opaque->level + 1);
	page_append(root, &minus_infinity, BufferGetBlockNumber(buffer));
	page_append(root, bound, right);
	meta = (MetaPageData *)
		PageGetContents(GenericXLogRegisterBuffer(state, meta_buffer, 0));
	meta->root[opaque->tree].block = BufferGetBlockNumber(root_buffer);
	meta->root[opaque->tree].level = opaque->level + 1;
	GenericXLogFinish(state);

	UnlockReleaseBuffer(root_buffer);
	UnlockReleaseBuffer(meta_buffer);
	return true;
}

/*
 * Insert a link into a page above the leaves that is not full.
 */
static void
insert_link(Page page, const Entry *entry, BlockNumber child)
{
	int			n = page_nentries(page);
	int			at = page_lower_bound(page, n, entry);

	page_append(page, entry, child);
	memmove(page_keys(page) + at + 1, page_keys(page) + at,
			(n - at) * sizeof(uint64));
	memmove(inner_link(page, n), inner_link(page, n - 1),
			(n - at) * sizeof(LinkData));
	page_keys(page)[at] = entry->key;
	inner_link(page, at)->tid = entry->tid;
	BlockIdSet(&inner_link(page, at)->child, child);
}

/*
 * Finish the split of a page that is marked: give its right sibling a link in
 * the parent.  The buffer is pinned and exclusively locked; both are given up.
 */
static void
finish_split(Relation index, Buffer buffer)
{
	TreePageOpaque opaque = TreePageGetOpaque(BufferGetPage(buffer));
	BlockNumber right = opaque->right;
	Entry		bound = page_high(BufferGetPage(buffer));

	if (!split_root(index, buffer, &bound, right))
	{
		Buffer		parent = split_descend(index, opaque->tree, opaque->level + 1,
										   &bound);

		if (page_is_full(BufferGetPage(parent)))
			split_insert(index, parent, &bound, right, buffer);
		else
		{
			GenericXLogState *state = GenericXLogStart(index);

			clear_split_mark(state, buffer);
			insert_link(GenericXLogRegisterBuffer(state, parent, 0), &bound, right);
			GenericXLogFinish(state);
			UnlockReleaseBuffer(parent);
		}
	}
	UnlockReleaseBuffer(buffer);
}

/*
 * Descend to the page of a level in which an entry is to be inserted.  Returns it
 * pinned and exclusively locked.  The caller holds no other page of the level.
 *
 * A split that was left incomplete is finished here: by who comes to the left page,
 * before stepping to the right one, with nothing else of the level locked.  Then
 * the descent begins anew, because the link has changed what stands above.
 */
Buffer
split_descend(Relation index, int tree, int level, const Entry *entry)
{
	Buffer		buffer = search_arrive(index, tree, level, entry,
									   BUFFER_LOCK_EXCLUSIVE);

	for (;;)
	{
		Page		page = BufferGetPage(buffer);

		if (page_split_is_incomplete(page))
		{
			finish_split(index, buffer);
			buffer = search_arrive(index, tree, level, entry, BUFFER_LOCK_EXCLUSIVE);
		}
		else if (page_is_left_of(page, entry))
			buffer = page_step_right(index, buffer, BUFFER_LOCK_EXCLUSIVE);
		else
			return buffer;
	}
}
