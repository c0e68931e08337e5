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
 *  - every link leads to a page of its level.
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

typedef struct LevelCheck
{
	Entry		bound;			/* upper bound of the page to the left: lower
								 * bound of this one */
	bool		left_incomplete;	/* its split is */
	BoundList	pages;			/* the pages of this level */
	BoundList	links;			/* the links on them */
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

			list_append(&check->links, &bound,
						inner_child(page, i), true);
		}
	}
	check->left_incomplete = page_split_is_incomplete(page);
	if (!page_is_rightmost(page))
		check->bound = page_high(page);
}

/*
 * Compare the pages of a level with the links to them in the level above,
 * which was read later.  Both are in order.  A link without a page is one to
 * a page that was split off in between: then that page is looked at.
 */
static void
compare_with_links(Relation index, int tree, int level, const BoundList *pages,
				   const BoundList *links)
{
	size_t		i = 0;
	size_t		j = 0;

	while (i < pages->n || j < links->n)
	{
		int			order = i == pages->n ? 1 : j == links->n ? -1 :
			entry_compare(&pages->items[i].bound, &links->items[j].bound);

		if (order < 0)
		{
			if (pages->items[i].required)
				page_report_corruption(index, pages->items[i].block,
									   "no link in the level above leads to it");
			i++;
		}
		else if (order > 0)
		{
			UnlockReleaseBuffer(page_read(index, links->items[j].block,
										  BUFFER_LOCK_SHARE, tree, level));
			j++;
		}
		else
		{
			if (pages->items[i].block != links->items[j].block)
				page_report_corruption(index, pages->items[i].block,
									   "the link with its bound leads to another page");
			i++;
			j++;
		}
	}
}

/*
 * Check a tree, from the leaves up to the level of the root known.
 */
static void
check_tree(Relation index, const IndexMeta *meta, int tree)
{
	BoundList	below = {0};

	for (int level = 0; level <= (int) meta->root[tree].level; level++)
	{
		LevelCheck	check = {0};

		check.bound = entry_before(0);
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
	}
	pfree(below.items);
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

	for (int tree = 0; tree < meta.ntrees; tree++)
		check_tree(index, &meta, tree);
	if (with_heap)
		check_against_heap(open.heap, index);
	report_close_index(&open);
	PG_RETURN_VOID();
}
