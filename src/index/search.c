/*-------------------------------------------------------------------------
 *
 * search.c
 *		Descents in a tree
 *
 * Lehman and Yao, "Efficient locking for concurrent operations on B-trees",
 * 1981, as nbtree has it: one page is locked at a time; where a page was
 * split since its link was read, the search steps right.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/rel.h"

#include "index/meta.h"
#include "index/page.h"
#include "index/search.h"

static inline bool
entry_is_less(Page page, int i, const Entry *entry)
{
	uint64		key = page_keys(page)[i];
	Entry		other;

	if (key != entry->key)
		return key < entry->key;
	other = page_entry(page, i);
	return entry_compare(&other, entry) < 0;
}

/*
 * Where an entry should be among n, if keys were spread evenly between the
 * first one and the page's upper bound.
 */
static inline int
guess_position(Page page, int n, uint64 key)
{
	uint64		first = page_keys(page)[0];
	uint64		beyond = page_is_rightmost(page) ? ~UINT64CONST(0) :
		TreePageGetOpaque(page)->high_key;

	if (key <= first)
		return 0;
	if (key >= beyond)
		return n - 1;
	return (double) (key - first) / (double) (beyond - first) * (n - 1);
}

/*
 * Of the first n entries of a page, which are in order, the number of those
 * less than the given one.
 *
 * Fingerprints are hashes: a guess is mostly off by a few entries, and saves
 * most of the cache misses of a binary search.  Where it is far off, the
 * steps double, so that it never costs more than twice as many comparisons.
 */
int
page_lower_bound(Page page, int n, const Entry *entry)
{
	int			low = 0;		/* entries before this one are less */
	int			high = n;		/* those from this one on are not */
	int			step = 8;
	int			at;

	if (n == 0)
		return 0;
	at = guess_position(page, n, entry->key);
	if (entry_is_less(page, at, entry))
	{
		do
		{
			low = at + 1;
			at = low + step;
			step *= 2;
		} while (at < n && entry_is_less(page, at, entry));
		high = Min(at, n);
	}
	else
	{
		do
		{
			high = at;
			at = high - step;
			step *= 2;
		} while (at >= 0 && !entry_is_less(page, at, entry));
		low = Max(at + 1, 0);
	}
	while (low < high)
	{
		int			mid = (low + high) / 2;

		if (entry_is_less(page, mid, entry))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Which child an entry belongs in: that of the last lower bound which is not
 * beyond it.  The entry is within the bounds of the page.
 */
static int
find_child(Page page, const Entry *entry)
{
	int			n = page_nentries(page);
	int			i = page_lower_bound(page, n, entry);

	/* the first bound is never beyond, but a damaged page must do no harm */
	if (i > 0)
	{
		Entry		bound = page_entry(page, Min(i, n - 1));

		if (i == n || entry_compare(&bound, entry) > 0)
			i--;
	}
	return i;
}

/*
 * Read and lock the root, or, until its split has been finished, the leftmost page
 * of its level: the search steps right.
 *
 * The root known may have been split since: then it has a right sibling, and the
 * metapage knows better.  One that is below the level wanted is not looked at: it
 * may be the very page whose parent the caller wants, and has locked.
 */
static Buffer
read_root(Relation index, int tree, int level, int lock)
{
	const TreeRoot *root = &meta_get(index)->root[tree];

	if (root->level >= level)
	{
		Buffer		buffer = page_read(index, root->block,
									   root->level == level ? lock : BUFFER_LOCK_SHARE,
									   tree, root->level);

		if (page_is_rightmost(BufferGetPage(buffer)))
			return buffer;
		UnlockReleaseBuffer(buffer);
	}
	root = &meta_reread(index)->root[tree];
	if (root->level < level)
		page_report_corruption(index, root->block,
							   "the root is below a page of the tree");
	return page_read(index, root->block,
					 root->level == level ? lock : BUFFER_LOCK_SHARE,
					 tree, root->level);
}

/*
 * Descend to a level (0: leaves), to the page there that a link leads to.  If it was
 * split since, or its split is incomplete, the entry may belong to the right of it.
 * Returns it pinned and locked as asked; above it, share locks are held, one at a
 * time.
 */
Buffer
search_arrive(Relation index, int tree, int level, const Entry *entry, int lock)
{
	Buffer		buffer = read_root(index, tree, level, lock);

	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		int			here = TreePageGetOpaque(page)->level;

		if (here == level)
			return buffer;
		if (page_is_left_of(page, entry))
			buffer = page_step_right(index, buffer, BUFFER_LOCK_SHARE);
		else
		{
			BlockNumber child = inner_child(page, find_child(page, entry));

			UnlockReleaseBuffer(buffer);
			buffer = page_read(index, child,
							   here - 1 == level ? lock : BUFFER_LOCK_SHARE,
							   tree, here - 1);
		}
	}
}

/*
 * Descend to the page of a level in which an entry belongs.  Writers, who have to
 * finish the splits that they pass, use split_descend.
 */
Buffer
search_descend(Relation index, int tree, int level, const Entry *entry)
{
	Buffer		buffer = search_arrive(index, tree, level, entry, BUFFER_LOCK_SHARE);

	return page_move_right(index, buffer, entry, BUFFER_LOCK_SHARE);
}

/*
 * The leaves with the keys of a range, at most max of them, as far as they stand in
 * one page of the level above: returns their number.  The first one may have been
 * split meanwhile, so that the range begins to the right of it.  Reads only what
 * stands above the leaves; 0 if nothing does.
 */
int
search_find_leaves(Relation index, int tree, uint64 low, uint64 high,
				   BlockNumber *leaves, int max)
{
	Entry		entry = entry_before(low);
	Buffer		buffer;
	Page		page;
	int			child;
	int			n = 0;

	if (meta_get(index)->root[tree].level == 0)
		return 0;
	buffer = search_descend(index, tree, 1, &entry);
	page = BufferGetPage(buffer);
	child = find_child(page, &entry);
	do
		leaves[n++] = inner_child(page, child++);
	while (n < max && child < page_nentries(page) && page_keys(page)[child] <= high);
	UnlockReleaseBuffer(buffer);
	return n;
}
