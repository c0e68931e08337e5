/*
 * Insertion of the entries of a row: one for each key in each permuted table's tree
 *
 * The main cost of an insertion is its WAL records.  In the usual case, no page must be
 * split.  Then one record logs changes to several leaves.  If the row has one key, these
 * are leaves of several trees.  If the row has several keys, they are leaves of one tree.
 *
 * The insertion of several entries descends for the first entry, pins the leaf, and counts
 * the entries that belong to this leaf and fit.  Then it descends for the next entry, up
 * to four leaves.  Then, as a descent must hold no lock, it locks the leaves, one after the
 * other, appends the entries in one record, and unlocks and unpins all.  An entry whose leaf is full, has the
 * incomplete-split flag, or was split so that the entry belongs to the right of it ends
 * the record, and is then inserted alone.
 *
 * It holds leaves while it waits for the next leaf, to which no link leads from these.
 * That breaks the rule of src/index/README.md, and still there is no deadlock:
 *
 *	- All insertions lock leaves in the order of src/index/README.md: by tree, then by
 *	  low key.  While an insertion holds several leaves, it waits for nothing but leaves:
 *	  it does not move right, split a page or finish a split.
 *	- No other process waits for a second leaf.  A process that finishes the split of a
 *	  leaf waits for that leaf, under the parent's lock.  A process that merges two
 *	  leaves waits for the left one, and gives up if it cannot lock the other at once.
 *	  So still no wait goes back.
 *	- The order does not change while the insertion waits.  A pinned leaf is not merged
 *	  into another.  So it remains a leaf of its tree with its low key.
 *	- The order is checked, not assumed (find_leaf).  The next entry may belong to a leaf
 *	  found before: that leaf has no space for it, or its right sibling was merged into
 *	  it, which the pin does not prevent.  Then this entry is left to the next record.
 *	  So no leaf is locked twice.
 *	- Each leaf is checked again once it is locked, because another process may have
 *	  split or filled it.  If not all of its entries fit, the leaves after it are not
 *	  locked.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"

#include "index/access_method.h"
#include "index/opclass.h"
#include "index/tree/tree.h"

/* Maximum number of leaves in one WAL record. */
#define MAX_LEAVES		WAL_MAX_PAGES

/*
 * Maximum number of entries formed and inserted at a time.  A row with one key has one
 * entry in each permuted table, and must not have more entries than this.
 */
#define MAX_ENTRIES		WAL_MAX_ENTRIES

StaticAssertDecl(MAX_ENTRIES >= DESIGN_MAX_TABLES, "a row of one key has more entries");

/* A new entry and its tree. */
typedef struct TreeEntry
{
	int			tree;			/* number of the tree, from 0 */
	Entry		entry;
} TreeEntry;

/* A pinned leaf and the entries to append to it. */
typedef struct Leaf
{
	Buffer		buffer;
	int			tree;			/* number of the tree, from 0 */
	Entry		low_key;		/* low key of the leaf */
	const TreeEntry *entries;	/* entries to append */
	int			n;				/* number of entries to append */
} Leaf;

/*
 * Return how many of entries[0..n-1] fit on a locked leaf.  The entries are sorted, and a
 * descent for entries[0] has reached this leaf.
 *
 * Returns 0 if the leaf is full, or if it was split so that entries[0] now belongs to the
 * right.  Also returns 0 if the leaf has the incomplete-split flag, because its split must
 * be finished first.
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

/*
 * Descend to the leaf of the first of n entries, and pin that leaf.  Fills in *leaf, and
 * leaves the leaf unlocked.  Returns false, with nothing pinned, if no entry fits on the
 * leaf.  Also returns false if the leaf does not come after `before` in the lock order: by
 * tree, then low key.  `before` is NULL for the first leaf.
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
	if (leaf->n > 0 &&
		(before == NULL || before->tree < leaf->tree ||
		 (before->tree == leaf->tree && entry_compare(&before->low_key, &leaf->low_key) < 0)))
		return true;
	ReleaseBuffer(leaf->buffer);
	return false;
}

/*
 * Find and pin the leaves of the first of entries[0..n-1], up to MAX_LEAVES leaves.
 * Returns the number of leaves.  Leaves all leaves unlocked.  The leaves ascend by tree, then
 * low key, so each leaf occurs once.
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
 * Lock the leaves exclusively, in order.  Stops at the first leaf on which not all of its
 * entries still fit, because the leaf was filled or split, or has the incomplete-split flag
 * (leaf_count_fitting).  Trims the count of that leaf to the entries that still fit, and
 * unlocks it if none fits.  Returns the number of leaves locked.
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
 * Append the entries of locked leaves to these leaves, in one WAL record.  Returns the
 * number of entries.  The leaves stay locked.
 */
static int
append_to_leaves(Relation index, const Leaf *leaves, int nleaves)
{
	WalRecord	record;
	int			n = 0;

	wal_begin(&record, index);
	for (int i = 0; i < nleaves; i++)
	{
		Page		page = wal_register(&record, leaves[i].buffer);

		for (int j = 0; j < leaves[i].n; j++)
			page_append(page, &leaves[i].entries[j].entry, InvalidBlockNumber);
		n += leaves[i].n;
	}
	wal_finish(&record);
	return n;
}

/*
 * Insert the first of entries[0..n-1], in one WAL record.  These are the entries that fit
 * on up to MAX_LEAVES leaves without a split.  Returns the number of entries inserted.
 *
 * Returns 0, with nothing inserted, if the first entry does not fit on its leaf.  The
 * caller then inserts that entry alone.
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
 * Insert one entry into a tree.  Splits the leaf if the leaf is full.
 */
static void
insert_entry(Relation index, int tree, const Entry *entry)
{
	Buffer		buffer = split_descend(index, tree, 0, entry);

	if (page_is_full(BufferGetPage(buffer)))
		split_insert(index, buffer, entry, InvalidBlockNumber, InvalidBuffer);
	else
	{
		WalRecord	record;

		wal_begin(&record, index);
		page_append(wal_register(&record, buffer), entry, InvalidBlockNumber);
		wal_finish(&record);
		UnlockReleaseBuffer(buffer);
	}
}

/*
 * Insert n entries, sorted by tree, then entry.  Checks for interrupts between WAL
 * records.
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
 * Insert the entries of a row into the trees of the permuted tables.  The row has n keys,
 * which must be in ascending order.
 *
 * If n is not 1, there is only one permuted table, with the identity permutation.  So in
 * each tree the entries are in the order of the keys.
 *
 * A crash, an error or a cancellation may leave a row with only some of its entries.
 * Then the row's transaction has not committed, and no snapshot ever sees the row.
 */
static void
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
			const PermutedTable *table = &meta_get(index)->design.table[tree];

			entries[nentries++] = (TreeEntry) {
				tree, make_entry(design_key(table, keys[i]), tid)
			};
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
 * aminsert: insert the entries of a row, or its placeholder.  Raises an error if the
 * parameters of the value differ from those of the index.  Returns false, because no
 * index of this access method is unique.
 */
bool
simhash_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			   Relation heap, IndexUniqueCheck unique_check,
			   bool index_unchanged, struct IndexInfo *info)
{
	const Opclass *opclass = opclass_of_trees(index);
	KeySet		keys;

	opclass_extract_value(opclass, values[0], isnull[0], &keys);
	params_check(index, meta_get(index)->params, keys.params);
	if (keys.is_placeholder)
	{
		Entry		entry = make_entry(keys.key[0], tid);

		insert_entry(index, placeholder_tree(meta_get(index)), &entry);
	}
	else
		insert_keys(index, keys.key, keys.n, tid);
	key_set_free(&keys);
	return false;
}
