/*-------------------------------------------------------------------------
 *
 * descend.c
 *		Descents in a tree
 *
 * Lehman and Yao, "Efficient locking for concurrent operations on B-trees",
 * 1981, as nbtree has it: one page is locked at a time; where a page was
 * split since its link was read, the search steps right.  Where it was merged into
 * another, the search finds that the link is stale, and descends anew.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/rel.h"

#include "index/tree/descend.h"
#include "index/tree/link.h"
#include "index/tree/meta.h"
#include "index/tree/page.h"

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
page_search(Page page, int n, const Entry *entry)
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
 * Which child an entry belongs in: the last one whose lower bound is not beyond the
 * entry.  The entry is within the bounds of the page.
 */
int
find_child(Page page, const Entry *entry)
{
	int			n = page_nentries(page);
	int			i = page_search(page, n, entry);

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
 * A link to the root, as far as this process knows it.
 */
static inline PageLink
root_link(Relation index, int tree, int level)
{
	const TreeRoot *root = &meta_get(index)->root[tree];

	if (root->level < level)
		root = &meta_reread(index)->root[tree];
	if (root->level < level)
		page_report_corruption(index, root->block,
							   "the root is below a page of the tree");
	return (PageLink) {lowest_entry(), root->block, tree, root->level};
}

static inline int
lock_for(const PageLink *link, int level, int lock)
{
	return link->level == level ? lock : BUFFER_LOCK_SHARE;
}

/*
 * Pin and lock the root, or, until its split has been finished, the leftmost page of
 * its level: the search steps right.
 *
 * The root may have been split since the metapage was read: then the page known as the
 * root mostly has a right sibling, and the metapage is read again.  Leftmost pages are
 * never merged into others, so that page still is the leftmost of its level.
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
 * Where a descent goes on from a page that it has read: to the right, if the entry
 * belongs there, or down.
 */
static PageLink
next_link(Page page, const Entry *entry)
{
	if (page_is_left_of(page, entry))
		return page_right_link(page);
	return page_downlink(page, find_child(page, entry));
}

/*
 * Count a link that a descent has found to be stale; too many are damage.
 */
static void
count_stale_link(Relation index, const PageLink *link, int *nstale)
{
	if (++*nstale > MAX_STALE_LINKS)
		page_report_mismatch(index, link);
}

/*
 * Descend to a level (0: leaves), to the page there that a link leads to: returns that
 * page pinned and locked as asked.  If the page was split since the link was read, or its
 * split is incomplete, the entry may belong to the right of it.  Above the level, share
 * locks are held, one at a time; the caller holds no lock.
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
			link = next_link(BufferGetPage(buffer), entry);
			UnlockReleaseBuffer(buffer);
			buffer = page_follow(index, &link, lock_for(&link, level, lock));
		}
	}
}

/*
 * Go right from a page, pinned and locked, to the one of its level that an entry
 * belongs in; or, if stop_at_incomplete, only to the first page on the way whose split is
 * incomplete.  Returns that page pinned and locked.  Where a link turns out to be stale,
 * descend anew.
 */
static Buffer
move_right(Relation index, Buffer buffer, const Entry *entry, int lock,
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
 * Descend to the page of a level in which an entry belongs: returns it pinned and
 * locked as asked.  The caller holds no lock.
 */
Buffer
descend_to(Relation index, int tree, int level, const Entry *entry, int lock)
{
	Buffer		buffer = descend_arrive(index, tree, level, entry, lock);

	if (page_is_left_of(BufferGetPage(buffer), entry))
		buffer = move_right(index, buffer, entry, lock, false);
	return buffer;
}

/*
 * Descend for an insertion, to the page of a level in which an entry belongs; or, if
 * there is one on the way, to the first page of that level whose split is incomplete.
 */
Buffer
descend_for_insertion(Relation index, int tree, int level, const Entry *entry)
{
	Buffer		buffer = descend_arrive(index, tree, level, entry, BUFFER_LOCK_EXCLUSIVE);

	return move_right(index, buffer, entry, BUFFER_LOCK_EXCLUSIVE, true);
}

/*
 * Follow a link, to the page of its level that an entry, which is not before the link's
 * bound, belongs in: returns that page pinned and share locked.  If `recent` is valid,
 * the page that the link leads to was in that buffer a moment ago.
 */
Buffer
descend_follow(Relation index, const PageLink *link, Buffer recent, const Entry *entry)
{
	Buffer		buffer = page_follow_recent(index, link, recent, BUFFER_LOCK_SHARE);

	if (!BufferIsValid(buffer))
		buffer = descend_arrive(index, link->tree, link->level, entry,
								BUFFER_LOCK_SHARE);
	if (page_is_left_of(BufferGetPage(buffer), entry))
		buffer = move_right(index, buffer, entry, BUFFER_LOCK_SHARE, false);
	return buffer;
}

/*
 * Find links to the leaves with the keys of a range, at most max of them, as far as they
 * stand in one page of the level above: returns their number.  The first leaf may have
 * been split meanwhile, so that the range begins to the right of it.  Reads only pages
 * above the leaves; 0 if there are none.
 */
int
descend_find_leaves(Relation index, int tree, uint64 low, uint64 high,
					PageLink *leaves, int max)
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
	UnlockReleaseBuffer(buffer);
	return n;
}
