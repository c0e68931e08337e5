/*-------------------------------------------------------------------------
 *
 * page.c
 *		The pages of an index: format, checks, reading and locking
 *
 * No page is used before page_check has found it sound, so that damaged
 * pages lead to errors, not to wild reads.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "index/tree/meta.h"
#include "index/tree/page.h"
#include "index/tree/pause.h"

/* Pages by which the index is extended at a time, as far as buffers can be pinned. */
#define EXTEND_TOGETHER	64

/*
 * Format an empty page of a tree.
 */
void
page_init(Page page, int tree, int level, const Entry *low)
{
	TreePageOpaque opaque;

	PageInit(page, BLCKSZ, sizeof(TreePageOpaqueData));
	opaque = TreePageGetOpaque(page);
	memset(opaque, 0, sizeof(TreePageOpaqueData));
	opaque->low_key = low->key;
	opaque->low_tid = low->tid;
	opaque->right = InvalidBlockNumber;
	opaque->level = level;
	opaque->tree = tree;
	opaque->page_id = TREE_PAGE_ID;
}

/*
 * Make room for, or drop, entries at the end: what is between them and the
 * hole is up to the caller.
 */
void
page_set_count(Page page, int nentries)
{
	PageHeader	header = (PageHeader) page;

	header->pd_lower = TREE_PAGE_LOWER + nentries * sizeof(uint64);
	header->pd_upper = TREE_PAGE_UPPER - nentries *
		(page_is_leaf(page) ? sizeof(ItemPointerData) : sizeof(LinkData));
}

void
page_set_high(Page page, const Entry *high)
{
	TreePageOpaque opaque = TreePageGetOpaque(page);

	opaque->high_key = high->key;
	opaque->high_tid = high->tid;
}

/*
 * Append an entry to a page that is not full.  The child is for pages above
 * the leaves.
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
		inner_link(page, n)->tid = entry->tid;
		BlockIdSet(&inner_link(page, n)->child, child);
	}
}

/*
 * Copy the entries of a page, in the order in which they stand; returns their number.
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
 * Replace the entries of a page by n others, which are in order.
 */
void
page_set_items(Page page, const PageItem *items, int n)
{
	page_set_count(page, 0);
	for (int i = 0; i < n; i++)
		page_append(page, &items[i].entry, items[i].child);
	TreePageGetOpaque(page)->nsorted = page_is_leaf(page) ? n : 0;
}

static int
compare_items(const void *a, const void *b)
{
	return entry_compare(&((const PageItem *) a)->entry,
						 &((const PageItem *) b)->entry);
}

void
page_sort_items(PageItem *items, int n)
{
	qsort(items, n, sizeof(PageItem), compare_items);
}

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

pg_noreturn static void report_damage(Relation index, Buffer buffer, const char *what);

static void
report_damage(Relation index, Buffer buffer, const char *what)
{
	page_report_corruption(index, BufferGetBlockNumber(buffer), what);
}

/*
 * Check that a page is sound by itself: that nothing which it says of its
 * own size leads outside it, and that siblings ascend.  What the entries are is not
 * checked.
 */
static pg_attribute_always_inline void
check_page(Relation index, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	PageHeader	header = (PageHeader) page;
	TreePageOpaque opaque;
	Entry		low;
	int			n;

	if (PageIsNew(page))
		report_damage(index, buffer, "it is all zeros");
	if (PageGetSpecialSize(page) != MAXALIGN(sizeof(TreePageOpaqueData)) ||
		header->pd_special != TREE_PAGE_UPPER)
		report_damage(index, buffer, "its special space is of the wrong size");
	opaque = TreePageGetOpaque(page);
	if (opaque->page_id != TREE_PAGE_ID)
		report_damage(index, buffer, "it is no page of a tree");

	if (header->pd_lower < TREE_PAGE_LOWER ||
		(header->pd_lower - TREE_PAGE_LOWER) % sizeof(uint64) != 0)
		report_damage(index, buffer, "its keys end in the wrong place");
	n = page_nentries(page);
	if (n > page_max_entries(page) ||
		header->pd_upper != TREE_PAGE_UPPER - n *
		(page_is_leaf(page) ? sizeof(ItemPointerData) : sizeof(LinkData)))
		report_damage(index, buffer, "its entries end in the wrong place");
	if (page_is_free(page))
		return;
	/* else a ring of siblings could be walked forever */
	low = page_low(page);
	if (page_is_left_of(page, &low))
		report_damage(index, buffer, "its upper bound is not beyond its lower one");
	if ((opaque->flags & TREE_INCOMPLETE_SPLIT) && page_is_rightmost(page))
		report_damage(index, buffer, "it was split, but has no right sibling");
	if (opaque->nsorted > n || (opaque->level > 0 && n == 0))
		report_damage(index, buffer, "it has too few entries");
}

void
page_check(Relation index, Buffer buffer)
{
	check_page(index, buffer);
}

static inline bool
identity_fits(const TreePageOpaqueData *opaque, const PageLink *link)
{
	return (opaque->flags & TREE_FREE_PAGE) == 0 &&
		opaque->tree == link->tree &&
		opaque->level == link->level &&
		opaque->low_key == link->low.key &&
		memcmp(&opaque->low_tid, &link->low.tid, sizeof(ItemPointerData)) == 0;
}

/*
 * Whether a page, locked, is still the one that a link leads to; checked, too.
 *
 * The page's lower bound has to be equal to the link's.  A page whose bound is less may
 * stand anywhere to the left of the page that was meant.
 */
bool
page_fits(Relation index, Buffer buffer, const PageLink *link)
{
	check_page(index, buffer);
	return identity_fits(TreePageGetOpaque(BufferGetPage(buffer)), link);
}

/*
 * Raise an error unless a page, pinned but not yet locked, is the one that a link leads
 * to.  The page on which the link stands is locked, so in a sound index the fields that
 * are looked at do not change.  In a damaged one the caller must not wait for the lock:
 * the link may lead to any page, even one that the caller holds, or whose holder waits
 * for the caller.
 */
void
page_peek(Relation index, Buffer buffer, const PageLink *link)
{
	if (!identity_fits(page_opaque_unchecked(BufferGetPage(buffer)), link))
		page_report_misfit(index, link);
}

/*
 * Whether a link may lead to a block: a damaged link must not look like a wish for a
 * new page (P_NEW is no block's number), nor lead beyond the file's end.
 */
bool
page_is_readable(Relation index, BlockNumber block)
{
	return block != META_BLOCK && meta_has_block(index, block);
}

/*
 * Report that a page does not fit a link that cannot be stale.
 */
void
page_report_misfit(Relation index, const PageLink *link)
{
	page_report_corruption(index, link->block,
						   "a link leads to it that is that of another page");
}

/*
 * Pin the block that a link leads to.  If `recent` is valid, the block was in that buffer
 * a moment ago.
 */
Buffer
page_pin(Relation index, const PageLink *link, Buffer recent,
		 BufferAccessStrategy strategy)
{
	if (!page_is_readable(index, link->block))
		page_report_corruption(index, link->block,
							   "a link leads to it, where no page of a tree is");
	if (BufferIsValid(recent) && read_recent_buffer(index, link->block, recent))
		return recent;
	return ReadBufferExtended(index, MAIN_FORKNUM, link->block, RBM_NORMAL, strategy);
}

/*
 * Pin and lock the page that a link leads to; or return InvalidBuffer, if the link is
 * stale.  If `recent` is valid, the page was in that buffer a moment ago.
 *
 * The caller holds no lock of a page: a stale link may lead to any page, and while the
 * caller waits for the lock of that page nobody waits for the caller.
 */
Buffer
page_follow_recent(Relation index, const PageLink *link, Buffer recent, int lock)
{
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	pause_before_link(link->level);
	buffer = page_pin(index, link, recent, NULL);
	page_prefetch(BufferGetPage(buffer));
	LockBuffer(buffer, lock);
	if (page_fits(index, buffer, link))
		return buffer;
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/*
 * Pin and lock exclusively the page that a link leads to.  The link stands on a page
 * that the caller has locked: so it is not stale, and leads down or to the right.
 */
Buffer
page_follow_held(Relation index, const PageLink *link)
{
	Buffer		buffer = page_pin(index, link, InvalidBuffer, NULL);

	page_peek(index, buffer, link);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (!page_fits(index, buffer, link))
		page_report_misfit(index, link);
	return buffer;
}

/*
 * Extend the index by a page; returns it pinned and exclusively locked, all
 * zeros.
 */
Buffer
page_new_buffer(Relation index)
{
	bool		need_lock = !RELATION_IS_LOCAL(index);
	Buffer		buffer;

	if (need_lock)
		LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBuffer(index, P_NEW);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (need_lock)
		UnlockRelationForExtension(index, ExclusiveLock);
	return buffer;
}

/*
 * Extend the index by n pages in a row, all zeros; returns the first.
 *
 * The extension lock is needed even if nobody else can see the index yet: it may be
 * built by several processes, which do not share this lock.  It is held until all n
 * pages are there, because PostgreSQL may give fewer at a time than are asked for.
 */
BlockNumber
page_extend(Relation index, BlockNumber n)
{
	BlockNumber first = InvalidBlockNumber;
	Buffer		buffers[EXTEND_TOGETHER];

	LockRelationForExtension(index, ExclusiveLock);
	while (n > 0)
	{
		uint32		extended;
		BlockNumber block = extend_relation(index, Min(n, EXTEND_TOGETHER), buffers,
											&extended);

		if (first == InvalidBlockNumber)
			first = block;
		for (uint32 i = 0; i < extended; i++)
			ReleaseBuffer(buffers[i]);
		n -= extended;
	}
	UnlockRelationForExtension(index, ExclusiveLock);
	return first;
}
