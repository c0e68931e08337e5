/*
 * Format of tree pages
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PAGE_H
#define SIMHASH_PAGE_H

#include "access/htup_details.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"

#include "compat.h"

/*
 * An entry of a leaf, or a low key or high key of a page.  Entries are ordered by key,
 * then TID.  So no two entries of a tree are equal, however many rows have the same
 * fingerprint.
 */
typedef struct Entry
{
	uint64		key;			/* key in the tree's permuted table (design.h) */
	ItemPointerData tid;		/* TID of the heap tuple.  All zeros, which is not a
								 * valid TID, in lowest_entry and in the bounds that
								 * entry_before() returns. */
	uint16		unused;			/* always 0, in place of padding.  Temporary files
								 * contain all bytes of an entry. */
} Entry;

/*
 * Every page but the metapage belongs to a B-link tree, or is free (Pages in
 * src/index/README.md).  Keys grow up from the page header to pd_lower.  TIDs (on a leaf) or
 * DownlinkData (on an inner page) grow down from the special space to pd_upper.  The space
 * between pd_lower and pd_upper is a standard hole, which generic WAL neither compares nor logs.
 */

/* An entry of an inner page, without its key. */
typedef struct DownlinkData
{
	ItemPointerData tid;		/* TID of the child's low key */
	BlockIdData child;			/* block of the child */
} DownlinkData;

/* The special space of a tree page or a free page. */
typedef struct TreePageOpaqueData
{
	uint64		low_key;		/* low key, inclusive; constant while the page is in
								 * a tree */
	uint64		high_key;		/* high key, exclusive; unused on a rightmost page */
	ItemPointerData low_tid;	/* TID of the low key */
	ItemPointerData high_tid;	/* TID of the high key */
	BlockNumber right;			/* right-link, or InvalidBlockNumber on a rightmost
								 * page; on a free page, the next free page, or
								 * InvalidBlockNumber */
	uint16		nsorted;		/* number of leading entries in order; 0 on an inner
								 * page */
	uint16		unused[3];		/* padding, so that page_id ends the page */
	uint16		level;			/* 0 is the leaf level */
	uint16		flags;			/* TREE_INCOMPLETE_SPLIT or TREE_FREE_PAGE, or 0 */
	uint16		tree;			/* number of the tree, from 0 */
	uint16		page_id;		/* TREE_PAGE_ID, in the last two bytes of the page,
								 * where tools look for the access method */
} TreePageOpaqueData;

typedef TreePageOpaqueData *TreePageOpaque;

#define TREE_PAGE_ID			0xFF98

/* The incomplete-split flag: there is no downlink to the right sibling yet. */
#define TREE_INCOMPLETE_SPLIT	0x0001

/* The page is in the free list, not in a tree. */
#define TREE_FREE_PAGE			0x0002

#define TreePageGetOpaque(page) ((TreePageOpaque) PageGetSpecialPointer(page))

/* Start and end (exclusive) of the space for entries on a page, as offsets in bytes. */
#define TREE_PAGE_LOWER		MAXALIGN(SizeOfPageHeaderData)
#define TREE_PAGE_UPPER		(BLCKSZ - MAXALIGN(sizeof(TreePageOpaqueData)))

/* Sizes of entries in bytes, and maximum numbers of entries on a page. */
#define LEAF_ENTRY_SIZE		(sizeof(uint64) + sizeof(ItemPointerData))
#define INNER_ENTRY_SIZE	(sizeof(uint64) + sizeof(DownlinkData))
#ifndef SIMHASH_TEST_BUILD
#define MAX_LEAF_ENTRIES	((TREE_PAGE_UPPER - TREE_PAGE_LOWER) / LEAF_ENTRY_SIZE)
#define MAX_INNER_ENTRIES	((TREE_PAGE_UPPER - TREE_PAGE_LOWER) / INNER_ENTRY_SIZE)
#else
#define MAX_LEAF_ENTRIES	12	/* low, so that a few rows make trees of several levels */
#define MAX_INNER_ENTRIES	8
#endif

/*
 * Return the special space of a page that page_check has not checked.  Assumes the offset
 * that the special space has on a sound page.
 */
static inline TreePageOpaque
page_opaque_unchecked(Page page)
{
	return (TreePageOpaque) ((char *) page + TREE_PAGE_UPPER);
}

static inline bool
page_is_leaf(Page page)
{
	return TreePageGetOpaque(page)->level == 0;
}

static inline bool
page_is_rightmost(Page page)
{
	return TreePageGetOpaque(page)->right == InvalidBlockNumber;
}

/* Return the number of entries of a page. */
static inline int
page_nentries(Page page)
{
	return (((PageHeader) page)->pd_lower - TREE_PAGE_LOWER) / sizeof(uint64);
}

static inline uint64 *
page_keys(Page page)
{
	return (uint64 *) ((char *) page + TREE_PAGE_LOWER);
}

static inline ItemPointer
leaf_tid(Page page, int i)
{
	return (ItemPointer) ((char *) page + TREE_PAGE_UPPER) - 1 - i;
}

static inline DownlinkData *
inner_downlink(Page page, int i)
{
	return (DownlinkData *) ((char *) page + TREE_PAGE_UPPER) - 1 - i;
}

/* Return the block to which the i-th downlink of an inner page leads. */
static inline BlockNumber
inner_child(Page page, int i)
{
	return BlockIdGetBlockNumber(&inner_downlink(page, i)->child);
}

/* Return an entry of a key and a TID. */
static inline Entry
make_entry(uint64 key, const ItemPointerData *tid)
{
	Entry		entry = {0};

	entry.key = key;
	entry.tid = *tid;
	return entry;
}

/* Return the i-th entry of a leaf, or the key of the i-th downlink of an inner page. */
static inline Entry
page_entry(Page page, int i)
{
	return make_entry(page_keys(page)[i],
					  page_is_leaf(page) ? leaf_tid(page, i) : &inner_downlink(page, i)->tid);
}

/* Return the maximum number of entries of a page. */
static inline int
page_max_entries(Page page)
{
	return page_is_leaf(page) ? MAX_LEAF_ENTRIES : MAX_INNER_ENTRIES;
}

/* Return the number of leading entries of a page that are in order. */
static inline int
page_nsorted(Page page)
{
	return page_is_leaf(page) ? TreePageGetOpaque(page)->nsorted : page_nentries(page);
}

static inline bool
page_is_full(Page page)
{
	return page_nentries(page) == page_max_entries(page);
}

/*
 * Return true if a TID is valid.  The executor relies on valid TIDs.  As in tidbitmap.c,
 * an offset number must not exceed MaxHeapTuplesPerPage.
 */
static inline bool
tid_is_valid(const ItemPointerData *tid)
{
	return ItemPointerIsValid(tid) &&
		ItemPointerGetOffsetNumberNoCheck(tid) <= MaxHeapTuplesPerPage;
}

/* Return a TID as a 48-bit number.  Numbers are in TID order.  The TID may be invalid. */
static inline uint64
tid_number(const ItemPointerData *tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

/* Return the TID of a number.  The inverse of tid_number. */
static inline ItemPointerData
tid_of_number(uint64 number)
{
	ItemPointerData tid;

	ItemPointerSet(&tid, number >> 16, number & 0xFFFF);
	return tid;
}

/* Compare two entries by key, then TID.  Returns -1, 0 or 1. */
static inline int
entry_compare(const Entry *a, const Entry *b)
{
	uint64		a_tid;
	uint64		b_tid;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	a_tid = tid_number(&a->tid);
	b_tid = tid_number(&b->tid);
	return (a_tid > b_tid) - (a_tid < b_tid);
}

/*
 * Return a bound that is less than all entries with this key.  The bound's TID is all
 * zeros, which is less than any valid TID.
 */
static inline Entry
entry_before(uint64 key)
{
	Entry		entry = {0};

	entry.key = key;
	return entry;
}

/* The low key of leftmost pages, which is less than all entries. */
static const Entry lowest_entry = {0};

/* Return a bound that no entry is greater than. */
static inline Entry
highest_entry(void)
{
	ItemPointerData tid = tid_of_number(UINT64CONST(0xFFFFFFFFFFFF));

	return make_entry(PG_UINT64_MAX, &tid);
}

/* Return the low key of a page. */
static inline Entry
page_low_key(Page page)
{
	TreePageOpaque opaque = TreePageGetOpaque(page);

	return make_entry(opaque->low_key, &opaque->low_tid);
}

/* Return the high key of a page that is not rightmost. */
static inline Entry
page_high_key(Page page)
{
	TreePageOpaque opaque = TreePageGetOpaque(page);

	return make_entry(opaque->high_key, &opaque->high_tid);
}

/*
 * Return true if an entry belongs to the right of a page, that is, if the entry is not
 * less than the page's high key.
 */
static inline bool
page_is_left_of(Page page, const Entry *entry)
{
	Entry		high_key;

	if (page_is_rightmost(page))
		return false;
	high_key = page_high_key(page);
	return entry_compare(entry, &high_key) >= 0;
}

static inline bool
page_is_free(Page page)
{
	return (TreePageGetOpaque(page)->flags & TREE_FREE_PAGE) != 0;
}

static inline bool
page_split_is_incomplete(Page page)
{
	return (TreePageGetOpaque(page)->flags & TREE_INCOMPLETE_SPLIT) != 0;
}

/* A copy of an entry of a leaf or an inner page. */
typedef struct PageItem
{
	Entry		entry;			/* on an inner page, the low key of the child */
	BlockNumber child;			/* InvalidBlockNumber on a leaf */
} PageItem;

/* Prefetch both ends of a page into the CPU cache, so that their cache misses overlap. */
static inline void
page_prefetch(Page page)
{
	pg_prefetch(page);
	pg_prefetch((char *) page + TREE_PAGE_UPPER);
}

extern void page_init(Page page, int tree, int level, const Entry *low_key);
extern void page_set_count(Page page, int nentries);
extern void page_set_high_key(Page page, const Entry *high_key);
extern void page_append(Page page, const Entry *entry, BlockNumber child);
extern int	page_get_items(Page page, PageItem *items);
extern void page_set_items(Page page, const PageItem *items, int n);
extern void page_sort_items(PageItem *items, int nsorted, int n);
pg_noreturn extern void page_report_corruption(Relation index, BlockNumber block,
											   const char *what);
extern void page_check(Relation index, Buffer buffer);

/*
 * Return the TID of the i-th entry of a locked leaf.  Raises an error if the TID is not
 * valid.
 */
static inline const ItemPointerData *
leaf_checked_tid(Relation index, Buffer buffer, int i)
{
	const ItemPointerData *tid = leaf_tid(BufferGetPage(buffer), i);

	if (!tid_is_valid(tid))
		page_report_corruption(index, BufferGetBlockNumber(buffer),
							   "an entry has no valid TID");
	return tid;
}

#endif							/* SIMHASH_PAGE_H */
