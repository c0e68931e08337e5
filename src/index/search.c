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

/*
 * Of the first n entries of a page, which are in order, the number of those
 * less than the given one.
 */
int
page_lower_bound(Page page, int n, const Entry *entry)
{
	const uint64 *keys = page_keys(page);
	int			low = 0;

	while (low < n)
	{
		int			mid = (low + n) / 2;
		bool		less = keys[mid] < entry->key;

		if (keys[mid] == entry->key)
		{
			Entry		other = page_entry(page, mid);

			less = entry_compare(&other, entry) < 0;
		}
		if (less)
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

/*
 * The child in which an entry belongs: of the last lower bound that is not
 * beyond it.  The first bound counts as minus infinity.
 */
static BlockNumber
find_child(Page page, const Entry *entry)
{
	int			n = page_nentries(page);
	int			i = page_lower_bound(page, n, entry);

	if (i == n)
		i--;
	else
	{
		Entry		bound = page_entry(page, i);

		if (i > 0 && entry_compare(&bound, entry) > 0)
			i--;
	}
	return BlockIdGetBlockNumber(&inner_link(page, i)->child);
}

/*
 * Read and lock the root.  The one known may have been split since; then
 * it has a right sibling, and the metapage knows better.  Where it does not
 * (a split that is incomplete), the root is right nevertheless: the search
 * steps right.
 */
static Buffer
read_root(Relation index, int tree, int level, int lock)
{
	const TreeRoot *root = &meta_get(index)->root[tree];
	int			root_level = root->level;
	Buffer		buffer = page_read(index, root->block,
								   root_level == level ? lock : BUFFER_LOCK_SHARE,
								   tree, root_level);

	if (!page_is_rightmost(BufferGetPage(buffer)))
	{
		UnlockReleaseBuffer(buffer);
		root = &meta_reread(index)->root[tree];
		root_level = root->level;
		buffer = page_read(index, root->block,
						   root_level == level ? lock : BUFFER_LOCK_SHARE,
						   tree, root_level);
	}
	if (root_level < level)
		page_report_corruption(index, BufferGetBlockNumber(buffer),
							   "the root is below a page of the tree");
	return buffer;
}

/*
 * Descend to the page of a level (0: leaf) in which an entry belongs.
 * Returns it pinned and locked as asked; above it, share locks are held, one
 * at a time.
 */
Buffer
search_descend(Relation index, int tree, int level, const Entry *entry, int lock)
{
	Buffer		buffer = read_root(index, tree, level, lock);

	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		int			here = TreePageGetOpaque(page)->level;
		int			lock_here = here == level ? lock : BUFFER_LOCK_SHARE;

		if (page_is_left_of(page, entry))
			buffer = page_step_right(index, buffer, lock_here);
		else if (here == level)
			return buffer;
		else
		{
			BlockNumber child = find_child(page, entry);

			UnlockReleaseBuffer(buffer);
			buffer = page_read(index, child,
							   here - 1 == level ? lock : BUFFER_LOCK_SHARE,
							   tree, here - 1);
		}
	}
}
