/*
 * Descents in a tree
 *
 * This follows Lehman and Yao, "Efficient locking for concurrent operations on
 * B-trees", 1981, as nbtree does.  A descent locks one page at a time.  If a page was
 * split after the descent read the link to it, the descent moves right.  If a page was
 * merged into another, the link to it is stale.  The descent detects that, and starts
 * again at the root.
 *
 * Why a stale link is safe.  A descent follows the last downlink whose low key is not
 * greater than the bound, and a right-link if the bound is not less than its low key.  It
 * has no lock when it locks the page:
 *
 *	- The page matches.  By invariant 1 of src/index/README.md, at most one page of this
 *	  tree and level has this low key.  So it is the right page, whatever its block
 *	  contained in between.  The bound is on it, or, if it was split, to the right of it.
 *	- The page does not match.  The process has used nothing of it, and descends again
 *	  from the root, whose link is not stale, because a leftmost page is never merged
 *	  away.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "index/tree/tree.h"

/*
 * Return true if the i-th entry of a page is less than `entry`.
 */
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
 * Return an estimate, 0 to n - 1, of the position of a key among n entries.  Assumes that
 * the keys of the entries are spread evenly between `first` and `end`.
 */
int
guess_position(uint64 first, uint64 end, int n, uint64 key)
{
	if (key <= first)
		return 0;
	if (key >= end)
		return n - 1;
	return (double) (key - first) / (double) (end - first) * (n - 1);
}

/*
 * Return the key at which the keys of a page end: its high key.
 */
static inline uint64
page_end(Page page)
{
	return page_is_rightmost(page) ? PG_UINT64_MAX : TreePageGetOpaque(page)->high_key;
}

/*
 * Return the number of entries less than `entry` among the first n entries of a page.
 * These must be in order.  Searches from position `at` on, in steps that double
 * (galloping).  So the search makes at most about twice as many comparisons as a binary
 * search.  Unless n is 0, `at` must be less than n, and not less than 0.
 */
int
page_search_from(Page page, int n, const Entry *entry, int at)
{
	int			low = 0;		/* all entries before position low are less */
	int			high = n;		/* no entry from position high on is less */
	int			step = 8;

	if (n == 0)
		return 0;
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
	FIND_FIRST(low, high, i, entry_is_less(page, i, entry));
	return low;
}

/*
 * Return the number of entries less than `entry` among the first n entries of a page.
 * These must be in order.
 *
 * This is an interpolation search.  Fingerprints are hashes, so the estimate is mostly
 * off by a few entries only.  That saves most of the cache misses of a binary search.
 */
int
page_search(Page page, int n, const Entry *entry)
{
	if (n == 0)
		return 0;
	return page_search_from(page, n, entry,
							guess_position(page_keys(page)[0], page_end(page), n, entry->key));
}

/*
 * Return the position of the downlink to follow for an entry on an inner page.  It is the
 * last downlink whose key is not greater than the entry.  The entry must not be less than
 * the page's low key, and must be less than its high key.
 */
int
find_child(Page page, const Entry *entry)
{
	int			n = page_nentries(page);
	int			i = page_search(page, n, entry);

	/* the first key is never greater, except on a damaged page */
	if (i > 0)
	{
		Entry		downlink_key = page_entry(page, Min(i, n - 1));

		if (i == n || entry_compare(&downlink_key, entry) > 0)
			i--;
	}
	return i;
}

/*
 * Return a link to the root of a tree, as the relation cache has it.  If that root is at a
 * lower level than `level`, rereads the metapage.  Raises an error if the root on the
 * metapage is also at a lower level than `level`.
 */
static inline PageLink
root_link(Relation index, int tree, int level)
{
	const TreeRoot *root = &meta_get(index)->root[tree];

	if (root->level < level)
		root = &meta_reread(index)->root[tree];
	if (root->level < level)
		page_report_corruption(index, root->block,
							   "the root is at a lower level than a page of its tree");
	return (PageLink) {lowest_entry, root->block, tree, root->level};
}

/*
 * Return the lock mode for the page of a link in a descent to `level`.  At that level, it
 * is `lock`.  At higher levels, it is a share lock.
 */
static inline int
lock_for(const PageLink *link, int level, int lock)
{
	return link->level == level ? lock : BUFFER_LOCK_SHARE;
}

/*
 * Pin and lock the root of a tree, for a descent to `level`.  Returns the buffer, or
 * InvalidBuffer if the link to the root is stale.  Sets *link to that link.
 *
 * The root may have been split since the metapage was read.  Then the page usually has a
 * right sibling, and this function rereads the metapage.  A leftmost page is never merged
 * into another.  So an outdated root is still the leftmost page of its level.
 *
 * While the split of the root is incomplete, there is no page above it.  Then this
 * function returns the leftmost page of the level, and the caller moves right.
 */
static Buffer
follow_root(Relation index, int tree, int level, int lock, PageLink *link)
{
	Buffer		buffer;

	*link = root_link(index, tree, level);
	buffer = page_follow(index, link, lock_for(link, level, lock));
	if (BufferIsValid(buffer) && !page_is_rightmost(BufferGetPage(buffer)))
	{
		UnlockReleaseBuffer(buffer);
		meta_reread(index);
		*link = root_link(index, tree, level);
		buffer = page_follow(index, link, lock_for(link, level, lock));
	}
	return buffer;
}

/*
 * Count a stale link of a descent in *nstale.  Raises an error if the number exceeds
 * MAX_STALE_LINKS.
 */
static void
count_stale_link(Relation index, const PageLink *link, int *nstale)
{
	if (++*nstale > MAX_STALE_LINKS)
		page_report_mismatch(index, link);
}

/*
 * Descend to the page of a level to which a downlink for an entry leads.  Level 0 is the
 * leaf level.  Returns that page pinned and locked in mode `lock`.
 *
 * The entry may belong to the right of the page.  That is so if the page was split after
 * the descent read the downlink, or if the page's split is incomplete.
 *
 * The caller must not hold the lock of any page.  At higher levels, the descent takes
 * share locks, one at a time.
 */
Buffer
descend_arrive(Relation index, int tree, int level, const Entry *entry, int lock)
{
	PageLink	link;
	Buffer		buffer = follow_root(index, tree, level, lock, &link);
	int			nstale = 0;

	for (;;)
	{
		if (!BufferIsValid(buffer))
		{
			count_stale_link(index, &link, &nstale);
			buffer = follow_root(index, tree, level, lock, &link);
		}
		else if (link.level == level)
			return buffer;
		else
		{
			Page		page = BufferGetPage(buffer);

			link = page_is_left_of(page, entry) ? page_right_link(page) :
				page_downlink(page, find_child(page, entry));
			UnlockReleaseBuffer(buffer);
			buffer = page_follow(index, &link, lock_for(&link, level, lock));
		}
	}
}

/*
 * Move right from a pinned and locked page to the page of its level to which an entry
 * belongs.  With stop_at_incomplete, stops at the first page on the way that has the
 * incomplete-split flag.  Returns the page pinned and locked in mode `lock`.  Locks one
 * page at a time.  Descends again if a right-link is stale.
 */
Buffer
descend_move_right(Relation index, Buffer buffer, const Entry *entry, int lock,
				   bool stop_at_incomplete)
{
	int			nstale = 0;

	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		PageLink	link;

		if (!page_is_left_of(page, entry) ||
			(stop_at_incomplete && page_split_is_incomplete(page)))
			return buffer;
		link = page_right_link(page);
		UnlockReleaseBuffer(buffer);
		buffer = page_follow(index, &link, lock);
		if (!BufferIsValid(buffer))
		{
			count_stale_link(index, &link, &nstale);
			buffer = descend_arrive(index, link.tree, link.level, entry, lock);
		}
	}
}

/*
 * Descend to the page of a level to which an entry belongs.  Returns that page pinned and
 * locked in mode `lock`.  The caller must not hold the lock of any page.
 */
Buffer
descend_to(Relation index, int tree, int level, const Entry *entry, int lock)
{
	Buffer		buffer = descend_arrive(index, tree, level, entry, lock);

	if (page_is_left_of(BufferGetPage(buffer), entry))
		buffer = descend_move_right(index, buffer, entry, lock, false);
	return buffer;
}

/*
 * Follow a link, then move right to the page of that level to which an entry belongs.  The
 * entry must not be less than the link's low key.  Returns the page pinned and
 * share-locked.  The caller must not hold the lock of any page.
 */
Buffer
descend_follow(Relation index, const PageLink *link, const Entry *entry)
{
	Buffer		buffer = page_follow(index, link, BUFFER_LOCK_SHARE);

	if (!BufferIsValid(buffer))
		buffer = descend_arrive(index, link->tree, link->level, entry,
								BUFFER_LOCK_SHARE);
	if (page_is_left_of(BufferGetPage(buffer), entry))
		buffer = descend_move_right(index, buffer, entry, BUFFER_LOCK_SHARE, false);
	return buffer;
}

/*
 * Set leaves[] to links to the leaves that contain keys from low to high, both inclusive.
 * Stops at max leaves, and at the end of the first leaf's parent.  Returns the number of
 * links, or 0 if the root is a leaf.  Sets *end to the key at which the last of these
 * leaves ends.  The first leaf may be split before the caller reads it.  Then the range may
 * begin to the right of that leaf.
 *
 * Reads inner pages only.  The caller must not hold the lock of any page.
 */
int
descend_find_leaves(Relation index, int tree, uint64 low, uint64 high,
					PageLink *leaves, int max, uint64 *end)
{
	Entry		entry = entry_before(low);
	Buffer		buffer;
	Page		page;
	int			child;
	int			n = 0;

	if (meta_get(index)->root[tree].level == 0)
		return 0;
	buffer = descend_to(index, tree, 1, &entry, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	child = find_child(page, &entry);
	do
		leaves[n++] = page_downlink(page, child++);
	while (n < max && child < page_nentries(page) && page_keys(page)[child] <= high);
	*end = child < page_nentries(page) ? page_keys(page)[child] : page_end(page);
	UnlockReleaseBuffer(buffer);
	return n;
}
