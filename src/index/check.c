/*-------------------------------------------------------------------------
 *
 * check.c
 *		simhash_index_check: an independent judge of an index
 *
 * Looks at every page of every tree, and shares no search with the scans.
 * What it checks holds at any moment, whatever others write meanwhile:
 *
 *  - the entries of a page lie between the upper bound of its left sibling
 *    and its own; above the leaves the first one is at the former;
 *  - the first nsorted entries of a leaf, and all above the leaves, are in
 *    order;
 *  - every page but the leftmost has a link in the level above, with the
 *    upper bound of its left sibling, unless that is marked as having been
 *    split incompletely.  (The level below is read first: what had a link
 *    then has it still.)
 *  - every link leads to a page that can be reached from the page to its left;
 *  - the root is alone on its level, but for incomplete splits.
 *
 * An incomplete split is no damage: a crash or a full disk leaves it, and the next
 * insertion that comes by completes it.  Each costs searches a step to the right, so
 * a NOTICE counts them.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/insert.h"
#include "index/report.h"

/* A page and its lower bound: as it should stand, or stands, in the level above. */
typedef struct PageBound
{
	Entry		bound;
	BlockNumber block;
	bool		required;		/* to have a link */
} PageBound;

typedef struct BoundList
{
	PageBound  *items;
	size_t		n;
	size_t		size;
} BoundList;

typedef struct IncompleteSplits
{
	int64		n;
	BlockNumber first;
} IncompleteSplits;

typedef struct LevelCheck
{
	Entry		bound;			/* upper bound of the page to the left: lower
								 * bound of this one */
	bool		left_incomplete;	/* its split is */
	BoundList	pages;			/* the pages of this level */
	BoundList	links;			/* the links on them */
	IncompleteSplits *incomplete;	/* of the whole index */
} LevelCheck;

static void
list_append(BoundList *list, const Entry *bound, BlockNumber block, bool required)
{
	PageBound  *item;

	if (list->n == list->size)
	{
		list->size = Max(64, 2 * list->size);
		list->items = list->items ?
			repalloc_huge(list->items, list->size * sizeof(PageBound)) :
			MemoryContextAllocHuge(CurrentMemoryContext,
								   list->size * sizeof(PageBound));
	}
	item = &list->items[list->n++];
	item->bound = *bound;
	item->block = block;
	item->required = required;
}

/*
 * Check that the entries of a page lie within its bounds, and in order where
 * they should.
 */
static void
check_entries(LevelCheck *check, Relation index, BlockNumber block, Page page)
{
	int			n = page_nentries(page);
	int			nsorted = page_is_leaf(page) ? TreePageGetOpaque(page)->nsorted : n;
	Entry		previous = {0};

	for (int i = 0; i < n; i++)
	{
		Entry		entry = page_entry(page, i);

		if (page_is_leaf(page) && !tid_is_valid(&entry.tid))
			page_report_corruption(index, block, "an entry has no valid TID");
		if (page_is_left_of(page, &entry))
			page_report_corruption(index, block, "an entry is beyond its upper bound");
		if (entry_compare(&entry, &check->bound) < 0)
			page_report_corruption(index, block, "an entry is below its lower bound");
		if (i == 0 && !page_is_leaf(page) && entry_compare(&entry, &check->bound) != 0)
			page_report_corruption(index, block, "its first link does not begin at its lower bound");
		if (i > 0 && i < nsorted && entry_compare(&previous, &entry) >= 0)
			page_report_corruption(index, block, "entries are out of order");
		previous = entry;
	}
}

static void
check_page(void *arg, Relation index, BlockNumber block, Page page)
{
	LevelCheck *check = arg;

	check_entries(check, index, block, page);
	list_append(&check->pages, &check->bound, block, !check->left_incomplete);
	if (!page_is_leaf(page))
	{
		for (int i = 0; i < page_nentries(page); i++)
		{
			Entry		bound = page_entry(page, i);

			list_append(&check->links, &bound, inner_child(page, i), true);
		}
	}
	check->left_incomplete = page_split_is_incomplete(page);
	if (check->left_incomplete && check->incomplete->n++ == 0)
		check->incomplete->first = block;
	if (!page_is_rightmost(page))
		check->bound = page_high(page);
}

/*
 * Check a link to a page that was not there when its level was read.  Then a split
 * has made it since, and it can be reached from the page that was to the left of it,
 * or from one that was split off that.
 */
static void
check_new_page(Relation index, int tree, int level, BlockNumber left,
			   const PageBound *link)
{
	Buffer		buffer = page_read(index, left, BUFFER_LOCK_SHARE, tree, level);

	buffer = page_move_right(index, buffer, &link->bound, BUFFER_LOCK_SHARE);
	if (BufferGetBlockNumber(buffer) != link->block)
		page_report_corruption(index, link->block,
							   "a link leads to it, but none from its left sibling");
	UnlockReleaseBuffer(buffer);
}

/*
 * Check that a page whose split was incomplete, but has a link now, is no longer
 * marked: the link and the removal of the mark are one record.
 */
static void
check_completed(Relation index, int tree, int level, BlockNumber left,
				const PageBound *link)
{
	Buffer		buffer = page_read(index, left, BUFFER_LOCK_SHARE, tree, level);
	Page		page = BufferGetPage(buffer);
	Entry		high = page_high(page);

	if (page_split_is_incomplete(page) && entry_compare(&high, &link->bound) == 0)
		page_report_corruption(index, left,
							   "its split is marked as incomplete, though it is not");
	UnlockReleaseBuffer(buffer);
}

/*
 * Compare the pages of a level with the links to them in the level above,
 * which was read later.  Both are in order, and begin at the same bound.
 */
static void
compare_with_links(Relation index, int tree, int level, const BoundList *pages,
				   const BoundList *links)
{
	BlockNumber left = pages->items[0].block;
	size_t		i = 0;
	size_t		j = 0;

	while (i < pages->n || j < links->n)
	{
		const PageBound *page = &pages->items[i];
		const PageBound *link = &links->items[j];
		int			order = i == pages->n ? 1 : j == links->n ? -1 :
			entry_compare(&page->bound, &link->bound);

		if (order < 0 && page->required)
			page_report_corruption(index, page->block,
								   "no link in the level above leads to it");
		if (order > 0)
			check_new_page(index, tree, level, left, link);
		if (order == 0 && page->block != link->block)
			page_report_corruption(index, page->block,
								   "the link with its bound leads to another page");
		if (order == 0 && !page->required)
			check_completed(index, tree, level, left, link);

		left = order > 0 ? link->block : page->block;
		i += order <= 0;
		j += order >= 0;
	}
}

/*
 * Check a tree, from the leaves up to the root.  That may be split meanwhile: then it
 * has a right sibling, and the metapage knows of a higher level.
 */
static void
check_tree(Relation index, IndexMeta *meta, int tree, IncompleteSplits *incomplete)
{
	BoundList	below = {0};
	BoundList	to_root = {0};
	Entry		minus_infinity = entry_before(0);

	for (int level = 0; level <= meta->root[tree].level; level++)
	{
		LevelCheck	check = {.bound = minus_infinity,.incomplete = incomplete};

		report_walk_level(index, tree, level,
						  report_leftmost(index, meta, tree, level),
						  check_page, &check);
		if (level > 0)
		{
			compare_with_links(index, tree, level - 1, &below, &check.links);
			pfree(below.items);
			pfree(check.links.items);
		}
		below = check.pages;
		if (level == meta->root[tree].level && below.n > 1)
			*meta = *meta_reread(index);
	}
	list_append(&to_root, &minus_infinity, meta->root[tree].block, true);
	compare_with_links(index, tree, meta->root[tree].level, &below, &to_root);
	pfree(to_root.items);
	pfree(below.items);
}

static void
tell_incomplete(Relation index, const IncompleteSplits *incomplete)
{
	if (incomplete->n == 0)
		return;
	ereport(NOTICE,
			(errmsg_plural("index \"%s\" has %lld incomplete page split",
						   "index \"%s\" has %lld incomplete page splits",
						   incomplete->n, RelationGetRelationName(index),
						   (long long) incomplete->n),
			 errdetail("The first is that of block %u: no link leads to its right sibling yet.",
					   incomplete->first),
			 errhint("A crash or a full disk leaves such a split; on a standby, the rest of it may not have been replayed yet.  Searches find all rows nevertheless, and an insertion that comes by completes it.")));
}

/*
 * simhash_index_check(regclass, heap boolean)
 */
PG_FUNCTION_INFO_V1(simhash_index_check);
Datum
simhash_index_check(PG_FUNCTION_ARGS)
{
	bool		with_heap = PG_GETARG_BOOL(1);
	OpenIndex	open;
	Relation	index = report_open_index(&open, PG_GETARG_OID(0), !with_heap);
	IndexMeta	meta = *meta_reread(index);
	IncompleteSplits incomplete = {0};

	for (int tree = 0; tree < meta.ntrees; tree++)
		check_tree(index, &meta, tree, &incomplete);
	tell_incomplete(index, &incomplete);
	if (with_heap)
		check_against_heap(open.heap, index);
	report_close_index(&open);
	PG_RETURN_VOID();
}
