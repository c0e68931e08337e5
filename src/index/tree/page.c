/*
 * Format of tree pages, and checks
 *
 * page_check checks each page before it is used.  So a damaged page causes an error, not a
 * read outside the page.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "utils/rel.h"

#include "index/tree/page.h"

/*
 * Format a page as an empty page of a tree and level, with this low key.  The page is
 * rightmost until the caller sets a right-link and a high key.
 */
void
page_init(Page page, int tree, int level, const Entry *low_key)
{
	TreePageOpaque opaque;

	PageInit(page, BLCKSZ, sizeof(TreePageOpaqueData));
	opaque = TreePageGetOpaque(page);
	memset(opaque, 0, sizeof(TreePageOpaqueData));
	opaque->low_key = low_key->key;
	opaque->low_tid = low_key->tid;
	opaque->right = InvalidBlockNumber;
	opaque->level = level;
	opaque->tree = tree;
	opaque->page_id = TREE_PAGE_ID;
}

/*
 * Set the number of entries of a page.  If the number grows, the caller fills in the new
 * entries at the end.
 */
void
page_set_count(Page page, int nentries)
{
	PageHeader	header = (PageHeader) page;

	header->pd_lower = TREE_PAGE_LOWER + nentries * sizeof(uint64);
	header->pd_upper = TREE_PAGE_UPPER - nentries *
		(page_is_leaf(page) ? sizeof(ItemPointerData) : sizeof(DownlinkData));
}

/*
 * Set the high key of a page.
 */
void
page_set_high_key(Page page, const Entry *high_key)
{
	TreePageOpaque opaque = TreePageGetOpaque(page);

	opaque->high_key = high_key->key;
	opaque->high_tid = high_key->tid;
}

/*
 * Append an entry to a page that is not full.  On an inner page, `child` is the block to
 * which the entry's downlink leads.  On a leaf, it is ignored.
 */
void
page_append(Page page, const Entry *entry, BlockNumber child)
{
	int			n = page_nentries(page);

	Assert(n < page_max_entries(page));
	page_set_count(page, n + 1);
	page_keys(page)[n] = entry->key;
	if (page_is_leaf(page))
		*leaf_tid(page, n) = entry->tid;
	else
	{
		inner_downlink(page, n)->tid = entry->tid;
		BlockIdSet(&inner_downlink(page, n)->child, child);
	}
}

/*
 * Copy the entries of a page to items[], in their order on the page.  Returns the number
 * of entries, for which the array must be long enough.
 */
int
page_get_items(Page page, PageItem *items)
{
	int			n = page_nentries(page);

	for (int i = 0; i < n; i++)
	{
		items[i].entry = page_entry(page, i);
		items[i].child = page_is_leaf(page) ? InvalidBlockNumber :
			inner_child(page, i);
	}
	return n;
}

/*
 * Replace the entries of a page by items[0..n-1], which must be in order.
 */
void
page_set_items(Page page, const PageItem *items, int n)
{
	page_set_count(page, 0);
	for (int i = 0; i < n; i++)
		page_append(page, &items[i].entry, items[i].child);
	TreePageGetOpaque(page)->nsorted = page_is_leaf(page) ? n : 0;
}

#define ST_SORT sort_items
#define ST_ELEMENT_TYPE PageItem
#define ST_COMPARE(a, b) entry_compare(&(a)->entry, &(b)->entry)
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Sort n items by key, then TID.  The first nsorted items must be in order already.  Sorts
 * the other items, and merges them with the first ones, from the end.
 */
void
page_sort_items(PageItem *items, int nsorted, int n)
{
	int			ntail = n - nsorted;
	PageItem   *tail;

	sort_items(items + nsorted, ntail);
	if (nsorted == 0 || ntail == 0)
		return;
	tail = palloc(ntail * sizeof(PageItem));
	memcpy(tail, items + nsorted, ntail * sizeof(PageItem));
	while (ntail > 0)
	{
		bool		from_tail = nsorted == 0 ||
			entry_compare(&items[nsorted - 1].entry, &tail[ntail - 1].entry) < 0;

		items[--n] = from_tail ? tail[--ntail] : items[--nsorted];
	}
	pfree(tail);
}

/*
 * Raise an error about a corrupted page.  `what` completes "A check of the page found
 * that ...".
 */
void
page_report_corruption(Relation index, BlockNumber block, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" contains a corrupted page at block %u",
					RelationGetRelationName(index), block),
			 errdetail("A check of the page found that %s.", what),
			 errhint("Please REINDEX it.")));
}

/*
 * Raise an error about a corrupted page in a buffer, as page_report_corruption does.
 */
pg_noreturn static void
report_damage(Relation index, Buffer buffer, const char *what)
{
	page_report_corruption(index, BufferGetBlockNumber(buffer), what);
}

/*
 * Check that a locked page is sound by itself.  Raises an error if it is not.
 *
 * The numbers on the page must not cause reads outside the page.  Unless the page is free,
 * its high key must be greater than its low key.  The values of the entries are not
 * checked.  (simhash_index_check checks them.)
 */
void
page_check(Relation index, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	PageHeader	header = (PageHeader) page;
	TreePageOpaque opaque;
	Entry		low_key;
	int			n;

	if (PageIsNew(page))
		report_damage(index, buffer, "it is all zeros");
	if (PageGetSpecialSize(page) != MAXALIGN(sizeof(TreePageOpaqueData)) ||
		header->pd_special != TREE_PAGE_UPPER)
		report_damage(index, buffer, "its special space has the wrong size");
	opaque = TreePageGetOpaque(page);
	if (opaque->page_id != TREE_PAGE_ID)
		report_damage(index, buffer, "it is not a tree page");

	if (header->pd_lower < TREE_PAGE_LOWER ||
		(header->pd_lower - TREE_PAGE_LOWER) % sizeof(uint64) != 0)
		report_damage(index, buffer, "its keys end in the wrong place");
	n = page_nentries(page);
	if (n > page_max_entries(page) ||
		header->pd_upper != TREE_PAGE_UPPER - n *
		(page_is_leaf(page) ? sizeof(ItemPointerData) : sizeof(DownlinkData)))
		report_damage(index, buffer, "its entries end in the wrong place");
	if (page_is_free(page))
		return;
	/* otherwise a process could follow a ring of right-links forever */
	low_key = page_low_key(page);
	if (page_is_left_of(page, &low_key))
		report_damage(index, buffer, "its high key is not greater than its low key");
	if ((opaque->flags & TREE_INCOMPLETE_SPLIT) && page_is_rightmost(page))
		report_damage(index, buffer, "it has the incomplete-split flag, but no right sibling");
	if (opaque->nsorted > n || (opaque->level > 0 && n == 0))
		report_damage(index, buffer, "it has too few entries");
}
