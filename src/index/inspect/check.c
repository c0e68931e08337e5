/*-------------------------------------------------------------------------
 *
 * check.c
 *		simhash_index_check: an independent judge of an index
 *
 * Looks at every page of every tree, and at the list of free pages.
 *
 * What a page says by itself holds at any moment, whatever others write meanwhile:
 *
 *  - its entries lie between its bounds; above the leaves the first one is the lower
 *    bound;
 *  - the first nsorted entries of a leaf, and all above the leaves, are in order.
 *
 * What pages say of each other holds at any moment, too, but they are read one after the
 * other:
 *
 *  - a link leads to a page of the next level with its bound;
 *  - that page ends where the next link begins, and has the page of that link as its
 *    right sibling; unless its split is incomplete: then this holds of the right page.
 *
 * So pages that do not fit each other are looked at again, and are damaged if they never
 * fit.
 *
 * An incomplete split is no damage: a crash, a full disk or a cancelled insertion leaves
 * one, and the next insertion that comes by, or vacuum, completes it.  Each costs searches
 * a step to the right, so a NOTICE counts incomplete splits.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/rel.h"

#include "compat.h"
#include "index/inspect/inspect.h"
#include "index/opclass_lookup.h"
#include "index/tree/descend.h"
#include "index/tree/free_list.h"
#include "index/tree/link.h"

typedef struct IncompleteSplits
{
	int64		n;
	BlockNumber first;
} IncompleteSplits;

typedef struct LevelCheck
{
	Relation	index;
	int			tree;
	int			level;
	IncompleteSplits *incomplete;	/* of the whole index */

	/* where to go on */
	Entry		bound;
	BlockNumber expected;		/* the right sibling of the page before, if known */
	Entry		previous;		/* lower bound of the page before */
	Entry		done;			/* how far the check has been already */
	bool		at_end;

	/* what did not fit, if anything */
	const char *what;
	BlockNumber block;
	Entry		done_then;		/* what `done` was at that moment */
	int			retries;			/* at what did not fit, without `done` rising */
} LevelCheck;

/*
 * Check that the entries of a page lie within its bounds, and in order where
 * they should.
 */
static void
check_entries(Relation index, BlockNumber block, Page page)
{
	int			n = page_nentries(page);
	int			nsorted = page_is_leaf(page) ? TreePageGetOpaque(page)->nsorted : n;
	Entry		low_key = page_low_key(page);
	Entry		previous = {0};

	for (int i = 0; i < n; i++)
	{
		Entry		entry = page_entry(page, i);

		if (page_is_leaf(page) && !tid_is_valid(&entry.tid))
			page_report_corruption(index, block, "an entry has no valid TID");
		if (page_is_left_of(page, &entry))
			page_report_corruption(index, block, "an entry is beyond its upper bound");
		if (entry_compare(&entry, &low_key) < 0)
			page_report_corruption(index, block, "an entry is below its lower bound");
		if (i == 0 && !page_is_leaf(page) && entry_compare(&entry, &low_key) != 0)
			page_report_corruption(index, block, "its first link does not begin at its lower bound");
		if (i > 0 && i < nsorted && entry_compare(&previous, &entry) >= 0)
			page_report_corruption(index, block, "entries are out of order");
		previous = entry;
	}
}

/*
 * Copy the page of the level above that has a link to the page where to go on.  Above the
 * highest level there is none: make a page with a link to the root.
 */
static void
copy_parent(LevelCheck *check, Page parent)
{
	const TreeRoot *root = &meta_reread(check->index)->root[check->tree];
	Entry		lowest = lowest_entry();

	if (root->level > check->level)
		inspect_copy_page(descend_to(check->index, check->tree, check->level + 1,
									 &check->bound, BUFFER_LOCK_SHARE),
						  parent);
	else
	{
		page_init(parent, check->tree, check->level + 1, &lowest);
		page_append(parent, &lowest, root->block);
	}
}

/*
 * Copy the page that a link leads to, and check it by itself.  Returns false if the link
 * is that of another page.
 */
static bool
copy_page(LevelCheck *check, const PageLink *link, Page page)
{
	Buffer		buffer = page_follow(check->index, link, BUFFER_LOCK_SHARE);

	if (!BufferIsValid(buffer))
		return false;
	inspect_copy_page(buffer, page);
	check_entries(check->index, link->block, page);
	return true;
}

/*
 * Whether a page ends at the bound of the i-th link of its parent, or with the parent.
 */
static bool
ends_at_downlink(Page page, Page parent, int i)
{
	bool		is_last = i == page_nentries(parent);
	Entry		high_key = page_high_key(page);
	Entry		end;

	if (page_is_rightmost(page))
		return is_last && page_is_rightmost(parent);
	if (is_last && page_is_rightmost(parent))
		return false;
	end = is_last ? page_high_key(parent) : page_entry(parent, i);
	return entry_compare(&high_key, &end) == 0;
}

static bool
note_mismatch(LevelCheck *check, BlockNumber block, const char *what)
{
	check->block = block;
	check->what = what;
	return false;
}

/*
 * Count an incomplete split, unless the page has been looked at before.
 */
static void
count_incomplete(LevelCheck *check, const PageLink *link)
{
	if (entry_compare(&link->low_key, &check->done) >= 0 && check->incomplete->n++ == 0)
		check->incomplete->first = link->block;
}

/*
 * Check the page to which the i-th link of its parent leads, and where the next one
 * begins.
 */
static bool
check_child(LevelCheck *check, Page parent, int i)
{
	PageLink	link = page_downlink(parent, i);
	PGAlignedBlock copy;
	Page		page = copy.data;
	bool		incomplete;

	if (!copy_page(check, &link, page))
		return note_mismatch(check, link.block,
						   "a link leads to it that is that of another page");
	if (check->expected != InvalidBlockNumber && check->expected != link.block &&
		entry_compare(&link.low_key, &check->bound) == 0)
		return note_mismatch(check, link.block,
						   "a link leads to it, but none from its left sibling");
	incomplete = page_split_is_incomplete(page);
	while (page_split_is_incomplete(page))
	{
		PageLink	right = page_right_link(page);

		if (!copy_page(check, &right, page))
			return note_mismatch(check, right.block,
							   "the link of its left sibling is that of another page");
	}
	if (!ends_at_downlink(page, parent, i + 1))
		return note_mismatch(check, link.block, incomplete ?
						   "its split is marked as incomplete, though it is not" :
						   "it does not end where the next link in the level above begins");

	if (incomplete)
		count_incomplete(check, &link);
	check->previous = link.low_key;
	check->at_end = page_is_rightmost(page);
	if (!check->at_end)
	{
		check->bound = page_high_key(page);
		check->expected = TreePageGetOpaque(page)->right;
		if (entry_compare(&check->bound, &check->done) > 0)
			check->done = check->bound;
	}
	return true;
}

/*
 * Something does not fit: go back to the page before, unless that has been done often
 * enough.
 */
static void
retry_from_previous(LevelCheck *check)
{
	if (entry_compare(&check->done, &check->done_then) != 0)
		check->retries = 0;
	check->done_then = check->done;
	if (++check->retries > MAX_STALE_LINKS)
		page_report_corruption(check->index, check->block, check->what);
	check->bound = check->previous;
	check->expected = InvalidBlockNumber;
}

/*
 * Check the pages of a level, from left to right, as the links to them lead.
 */
static void
check_level(Relation index, int tree, int level, IncompleteSplits *incomplete)
{
	LevelCheck	check = {.index = index,.tree = tree,.level = level,
	.incomplete = incomplete,.expected = InvalidBlockNumber};
	PGAlignedBlock copy;
	Page		parent = copy.data;

	while (!check.at_end)
	{
		int			i;
		bool		matches = true;

		copy_parent(&check, parent);
		for (i = find_child(parent, &check.bound); matches && i < page_nentries(parent); i++)
			matches = check_child(&check, parent, i);
		if (!matches)
			retry_from_previous(&check);
	}
}

/*
 * Check a tree, from the leaves up to the root, which may be split meanwhile.
 */
static void
check_tree(Relation index, int tree, IncompleteSplits *incomplete)
{
	for (int level = 0; level <= meta_reread(index)->root[tree].level; level++)
		check_level(index, tree, level, incomplete);
}

static void
report_incomplete_splits(Relation index, const IncompleteSplits *incomplete)
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
			 errhint("A crash, a full disk or a cancelled insertion leaves such a split, or somebody was just inserting; on a standby, the rest of it may not have been replayed yet.  Searches find all rows nevertheless, and VACUUM, or an insertion that comes by, completes it.")));
}

/*
 * simhash_index_check(regclass, heap boolean)
 */
PG_FUNCTION_INFO_V1(simhash_index_check);
Datum
simhash_index_check(PG_FUNCTION_ARGS)
{
	bool		with_heap = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	OpenIndex	open;
	Relation	index;
	int			ntrees;
	IncompleteSplits incomplete = {0};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	index = inspect_open_index(&open, PG_GETARG_OID(0), !with_heap);
	ntrees = meta_reread(index)->ntrees;
	opclass_of_trees(index);
	free_list_check(index);
	for (int tree = 0; tree < ntrees; tree++)
		check_tree(index, tree, &incomplete);
	report_incomplete_splits(index, &incomplete);
	if (with_heap)
		check_against_heap(open.heap, index);
	inspect_close_index(&open);
	PG_RETURN_VOID();
}
