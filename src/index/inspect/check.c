/*
 * simhash_index_check: an independent check of an index
 *
 * The check reads every page of every tree, and the free list.
 *
 * Some invariants concern one page.  They hold at any moment, whatever other processes
 * write:
 *
 *  - The entries lie between the low key and the high key.  On an inner page the first
 *    entry is the low key.
 *  - The first nsorted entries of a leaf are in order.  All entries of an inner page are in
 *    order.
 *
 * Other invariants concern several pages.  They hold at any moment, too, but the check
 * reads these pages one after the other, and other processes may change them meanwhile:
 *
 *  - A downlink leads to a page of the next lower level, with the downlink's low key.
 *  - The high key of that page is the low key of the next downlink.  The right-link of that
 *    page leads to the page of the next downlink.  If the page has the incomplete-split
 *    flag, both hold for its right sibling instead.
 *
 * So the check repeats the comparison of pages that do not match each other.  They are
 * damaged if they do not match after MAX_STALE_LINKS retries.
 *
 * An incomplete split is no damage.  A NOTICE reports the number of incomplete splits.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "utils/rel.h"

#include "compat.h"
#include "index/inspect/inspect.h"

/* Incomplete splits found in an index. */
typedef struct IncompleteSplits
{
	int64		n;				/* number of incomplete splits */
	BlockNumber first;			/* block of the left page of the first one found */
} IncompleteSplits;

/* State of the check of a level. */
typedef struct LevelCheck
{
	Relation	index;
	int			tree;			/* number of the tree, from 0 */
	int			level;			/* 0 is the leaf level */
	IncompleteSplits *incomplete;	/* incomplete splits of the whole index */

	/* position of the check */
	Entry		low_key;		/* low key of the page to check next */
	BlockNumber expected;		/* right-link of the previous page, or
								 * InvalidBlockNumber if unknown */
	Entry		previous_low_key;	/* low key of the previous page */
	Entry		done;			/* greatest high key of the pages checked so far */
	bool		at_end;			/* true if the rightmost page has been checked */

	/* the last mismatch, if any */
	const char *what;			/* its description, for page_report_corruption */
	BlockNumber block;			/* block of the page that does not match */
	Entry		done_then;		/* value of `done` at the last mismatch */
	int			retries;		/* number of retries since `done` last rose */
} LevelCheck;

/*
 * Check the entries of a copy of a page.  Raises an error if an entry is not between the
 * low key and the high key, if entries that must be in order are not, or if a TID is not
 * valid.
 */
static void
check_entries(Relation index, BlockNumber block, Page page)
{
	int			n = page_nentries(page);
	int			nsorted = page_nsorted(page);
	Entry		low_key = page_low_key(page);
	Entry		previous = {0};

	for (int i = 0; i < n; i++)
	{
		Entry		entry = page_entry(page, i);

		if (page_is_leaf(page) && !tid_is_valid(&entry.tid))
			page_report_corruption(index, block, "an entry has no valid TID");
		if (page_is_left_of(page, &entry))
			page_report_corruption(index, block, "an entry is not less than its high key");
		if (entry_compare(&entry, &low_key) < 0)
			page_report_corruption(index, block, "an entry is less than its low key");
		if (i == 0 && !page_is_leaf(page) && entry_compare(&entry, &low_key) != 0)
			page_report_corruption(index, block, "its first downlink does not have its low key");
		if (i > 0 && i < nsorted && entry_compare(&previous, &entry) >= 0)
			page_report_corruption(index, block, "entries are out of order");
		previous = entry;
	}
}

/*
 * Set `parent` to a copy of the page that has the downlink to the next page to check.  If
 * the level of the check is the highest, make a page with a downlink to the root instead.
 */
static void
copy_parent(LevelCheck *check, Page parent)
{
	const TreeRoot *root = &meta_reread(check->index)->root[check->tree];

	if (root->level > check->level)
		page_copy_and_release(descend_to(check->index, check->tree, check->level + 1,
										 &check->low_key, BUFFER_LOCK_SHARE), parent);
	else
	{
		page_init(parent, check->tree, check->level + 1, &lowest_entry);
		page_append(parent, &lowest_entry, root->block);
	}
}

/*
 * Copy the page that a link leads to, and check this page by itself.  Returns false, with
 * nothing copied, if the page does not match the link.
 */
static bool
copy_page(LevelCheck *check, const PageLink *link, Page page)
{
	Buffer		buffer = page_follow(check->index, link, BUFFER_LOCK_SHARE);

	if (!BufferIsValid(buffer))
		return false;
	page_copy_and_release(buffer, page);
	check_entries(check->index, link->block, page);
	return true;
}

/*
 * Return true if the high key of a page is the low key of the parent's i-th downlink.  If
 * the parent has no i-th downlink, return true if both pages have the same high key, or
 * both are rightmost.
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

/*
 * Store a mismatch in *check, for the error message.  Returns false.
 */
static bool
record_mismatch(LevelCheck *check, BlockNumber block, const char *what)
{
	check->block = block;
	check->what = what;
	return false;
}

/*
 * Check the page to which the i-th downlink of a parent leads.  Also check the pages to the
 * right of that page, up to the page of the next downlink.  If the pages do not match each
 * other, stores the mismatch and returns false.  Otherwise advances the position and
 * returns true.
 */
static bool
check_child(LevelCheck *check, Page parent, int i)
{
	PageLink	link = page_downlink(parent, i);
	PGAlignedBlock copy;
	Page		page = copy.data;
	bool		incomplete;

	if (!copy_page(check, &link, page))
		return record_mismatch(check, link.block,
							   "it is not the page that a link to it describes");
	if (check->expected != InvalidBlockNumber && check->expected != link.block &&
		entry_compare(&link.low_key, &check->low_key) == 0)
		return record_mismatch(check, link.block,
							   "a downlink leads to it, but the right-link of its left sibling does not");
	incomplete = page_split_is_incomplete(page);
	while (page_split_is_incomplete(page))
	{
		PageLink	right = page_right_link(page);

		if (!copy_page(check, &right, page))
			return record_mismatch(check, right.block,
								   "it is not the page that the right-link of its left sibling describes");
	}
	if (!ends_at_downlink(page, parent, i + 1))
		return record_mismatch(check, link.block, incomplete ?
							   "it has the incomplete-split flag, but its split is complete" :
							   "its high key does not match the parent level");

	/* count an incomplete split, unless the page has been checked before */
	if (incomplete && entry_compare(&link.low_key, &check->done) >= 0 &&
		check->incomplete->n++ == 0)
		check->incomplete->first = link.block;
	check->previous_low_key = link.low_key;
	check->at_end = page_is_rightmost(page);
	if (!check->at_end)
	{
		check->low_key = page_high_key(page);
		check->expected = TreePageGetOpaque(page)->right;
		if (entry_compare(&check->low_key, &check->done) > 0)
			check->done = check->low_key;
	}
	return true;
}

/*
 * After a mismatch, set the position back to the previous page.  Raises an error after
 * MAX_STALE_LINKS retries without progress.
 */
static void
retry_from_previous(LevelCheck *check)
{
	if (entry_compare(&check->done, &check->done_then) != 0)
		check->retries = 0;
	check->done_then = check->done;
	if (++check->retries > MAX_STALE_LINKS)
		page_report_corruption(check->index, check->block, check->what);
	check->low_key = check->previous_low_key;
	check->expected = InvalidBlockNumber;
}

/*
 * Check the pages of a level from left to right, by the downlinks on the parent level.
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
		for (i = find_child(parent, &check.low_key); matches && i < page_nentries(parent); i++)
			matches = check_child(&check, parent, i);
		if (!matches)
			retry_from_previous(&check);
	}
}

/*
 * Raise a NOTICE with the number of incomplete splits, if there are any.
 */
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
			 errdetail("The first is at block %u: there is no downlink to its right sibling yet.",
					   incomplete->first),
			 errhint("A crash, a full disk or a cancelled insertion leaves an incomplete split.  Another session may also be completing it just now.  On a standby, its second record may not have been replayed yet.  Searches find all rows nevertheless.  VACUUM, or the next insertion there, completes it.")));
}

/*
 * simhash_index_check(regclass, heap boolean): check an index.  If heap is true, also check
 * that the index matches its table.  Raises an error if the index is damaged.  The owner of
 * the index may call this function.  If heap is not true, members of pg_stat_scan_tables
 * may, too.
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
	/* the root of a tree may be split meanwhile */
	for (int tree = 0; tree < ntrees; tree++)
		for (int level = 0; level <= meta_reread(index)->root[tree].level; level++)
			check_level(index, tree, level, &incomplete);
	report_incomplete_splits(index, &incomplete);
	if (with_heap)
		check_against_heap(open.heap, index);
	inspect_close_index(&open);
	PG_RETURN_VOID();
}
