/*-------------------------------------------------------------------------
 *
 * insert.c
 *		Insertion of a row: an entry for each word in the tree of each table
 *
 * What costs is the WAL record, so the usual case, in which no page must be
 * split, logs several leaves together: of several trees, where a row has one word, and
 * of one, where it has several words.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "index/tree/descend.h"
#include "index/tree/insert.h"
#include "index/tree/meta.h"
#include "index/tree/split.h"

/* Leaves that go into one record. */
#define MAX_LEAVES		MAX_GENERIC_XLOG_PAGES

/* Entries that are made at a time: of a row of one word, all. */
#define MAX_ENTRIES		256

StaticAssertDecl(MAX_ENTRIES >= DESIGN_MAX_TABLES, "a row of one key has more entries");

/* An entry, and the tree that it goes to. */
typedef struct TreeEntry
{
	int			tree;
	Entry		entry;
} TreeEntry;

/* A leaf, pinned, and what it is to get. */
typedef struct Leaf
{
	Buffer		buffer;
	int			tree;
	Entry		low_key;		/* the leaf's lower bound */
	const TreeEntry *entries;
	int			n;
} Leaf;

/*
 * How many of the first entries a leaf takes at once, of n, in order, for the first of
 * which a descent has arrived at the leaf, which is locked.  None, if it is full; if it
 * was split, so that the first one belongs to the right of it; or if its split is
 * incomplete, which is to be finished first.
 */
static int
leaf_count_fitting(Page page, const TreeEntry *entries, int n)
{
	int			max = Min(n, page_max_entries(page) - page_nentries(page));
	int			nfit = 0;

	if (page_split_is_incomplete(page))
		return 0;
	while (nfit < max && entries[nfit].tree == entries[0].tree &&
		   !page_is_left_of(page, &entries[nfit].entry))
		nfit++;
	return nfit;
}

static bool
leaf_is_before(const Leaf *a, const Leaf *b)
{
	if (a->tree != b->tree)
		return a->tree < b->tree;
	return entry_compare(&a->low_key, &b->low_key) < 0;
}

/*
 * Descend to the leaf of the first of n entries, and pin it.  Returns false, with
 * nothing pinned, if the leaf takes none; or if it does not come after the leaf found
 * before (NULL: there is none).
 */
static bool
find_leaf(Relation index, const TreeEntry *entries, int n, const Leaf *before, Leaf *leaf)
{
	Page		page;

	leaf->buffer = descend_arrive(index, entries->tree, 0, &entries->entry,
								  BUFFER_LOCK_SHARE);
	page = BufferGetPage(leaf->buffer);
	leaf->tree = entries->tree;
	leaf->low_key = page_low_key(page);
	leaf->entries = entries;
	leaf->n = leaf_count_fitting(page, entries, n);
	LockBuffer(leaf->buffer, BUFFER_LOCK_UNLOCK);
	if (leaf->n > 0 && (before == NULL || leaf_is_before(before, leaf)))
		return true;
	ReleaseBuffer(leaf->buffer);
	return false;
}

/*
 * Find the leaves of the first of n entries, up to four; returns their number.
 *
 * They ascend, by tree and lower bound, so no leaf is among them twice, and they stay in
 * this order: a leaf that is pinned is not merged into another, and the lower bound of a
 * page in a tree does not change.  It is checked, not concluded from the order of the
 * entries: a leaf already found, whose pin keeps none from being merged into it, may have
 * got the next entry's leaf since.
 */
static int
find_leaves(Relation index, const TreeEntry *entries, int n, Leaf *leaves)
{
	const Leaf *before = NULL;
	int			nleaves = 0;

	while (nleaves < MAX_LEAVES && n > 0 &&
		   find_leaf(index, entries, n, before, &leaves[nleaves]))
	{
		before = &leaves[nleaves++];
		entries += before->n;
		n -= before->n;
	}
	return nleaves;
}

/*
 * Lock leaves, up to the first one that no longer takes all that it was found for: which
 * gets what it takes, or is not locked.  Returns how many are locked.
 *
 * Nobody waits in a circle, since everybody who locks several leaves does so in this
 * order: by tree, then from left to right.  Nothing keeps a leaf's right sibling where it
 * is, which is not pinned: so nobody who holds other leaves steps right.
 */
static int
lock_leaves(Leaf *leaves, int nleaves)
{
	for (int i = 0; i < nleaves; i++)
	{
		Leaf	   *leaf = &leaves[i];
		int			found = leaf->n;

		LockBuffer(leaf->buffer, BUFFER_LOCK_EXCLUSIVE);
		leaf->n = leaf_count_fitting(BufferGetPage(leaf->buffer), leaf->entries, found);
		if (leaf->n == 0)
			LockBuffer(leaf->buffer, BUFFER_LOCK_UNLOCK);
		if (leaf->n < found)
			return i + (leaf->n > 0);
	}
	return nleaves;
}

/*
 * Append to leaves what they are to get, in one WAL record; returns how many entries.
 */
static int
append_to_leaves(Relation index, const Leaf *leaves, int nleaves)
{
	GenericXLogState *state = GenericXLogStart(index);
	int			n = 0;

	for (int i = 0; i < nleaves; i++)
	{
		Page		page = GenericXLogRegisterBuffer(state, leaves[i].buffer, 0);

		for (int j = 0; j < leaves[i].n; j++)
			page_append(page, &leaves[i].entries[j].entry, InvalidBlockNumber);
		n += leaves[i].n;
	}
	GenericXLogFinish(state);
	return n;
}

/*
 * Insert the first of n entries, those of up to four leaves, in one WAL record.  Returns
 * how many; 0, having done nothing, if already the leaf of the first one does not take
 * it at once: a process that splits a page, or finishes a split, holds no other leaf.
 *
 * The leaves are locked after all descents.
 */
static int
insert_together(Relation index, const TreeEntry *entries, int n)
{
	Leaf		leaves[MAX_LEAVES];
	int			nleaves = find_leaves(index, entries, n, leaves);
	int			nlocked = lock_leaves(leaves, nleaves);
	int			inserted = nlocked > 0 ? append_to_leaves(index, leaves, nlocked) : 0;

	for (int i = 0; i < nleaves; i++)
	{
		if (i < nlocked)
			LockBuffer(leaves[i].buffer, BUFFER_LOCK_UNLOCK);
		ReleaseBuffer(leaves[i].buffer);
	}
	return inserted;
}

/*
 * Insert an entry into one tree, splitting its leaf if need be.
 */
static void
insert_entry(Relation index, int tree, const Entry *entry)
{
	Buffer		buffer = split_descend(index, tree, 0, entry);

	if (page_is_full(BufferGetPage(buffer)))
		split_insert(index, buffer, entry, InvalidBlockNumber, InvalidBuffer);
	else
	{
		GenericXLogState *state = GenericXLogStart(index);

		page_append(GenericXLogRegisterBuffer(state, buffer, 0), entry,
					InvalidBlockNumber);
		GenericXLogFinish(state);
		UnlockReleaseBuffer(buffer);
	}
}

/*
 * Insert n entries, which are in order of tree, then of entry.
 */
static void
insert_entries(Relation index, const TreeEntry *entries, int n)
{
	while (n > 0)
	{
		int			inserted = insert_together(index, entries, n);

		if (inserted == 0)
		{
			insert_entry(index, entries->tree, &entries->entry);
			inserted = 1;
		}
		entries += inserted;
		n -= inserted;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Insert the entries of a row's n words, which ascend, into the trees of the tables.
 * There is one word, or one table, which permutes nothing: so in each tree entries ascend
 * as words do.
 *
 * A crash, an error or a cancellation may leave a row with some of its entries only; then
 * its transaction has not committed, and nobody ever sees the row.
 */
void
insert_keys(Relation index, const uint64 *keys, int n, ItemPointer tid)
{
	int			ntables = meta_get(index)->design.ntables;
	TreeEntry	entries[MAX_ENTRIES];
	int			nentries = 0;

	Assert(n == 1 || ntables == 1);
	for (int tree = 0; tree < ntables; tree++)
	{
		for (int i = 0; i < n; i++)
		{
			const TableDesign *table = &meta_get(index)->design.table[tree];
			TreeEntry  *entry = &entries[nentries++];

			entry->tree = tree;
			entry->entry.key = design_key(table, keys[i]);
			entry->entry.tid = *tid;
			if (nentries == MAX_ENTRIES)
			{
				insert_entries(index, entries, nentries);
				nentries = 0;
			}
		}
	}
	insert_entries(index, entries, nentries);
}

/*
 * Insert the entry of a row without words.
 */
void
insert_placeholder(Relation index, uint64 placeholder, ItemPointer tid)
{
	Entry		entry = {placeholder, *tid};

	insert_entry(index, placeholder_tree(meta_get(index)), &entry);
}
