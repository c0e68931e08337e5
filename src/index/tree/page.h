/*-------------------------------------------------------------------------
 *
 * page.h
 *		The pages of an index
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAGE_H
#define SIMHASH_PAGE_H

#include "access/htup_details.h"
#include "common/hashfn.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"

#include "compat.h"

/*
 * An entry of a leaf.  Entries are ordered by key, then TID, so that no two
 * are equal, however many rows have the same fingerprint.
 */
typedef struct Entry
{
	uint64		key;
	ItemPointerData tid;
} Entry;

/*
 * All pages but the metapage belong to a B-link tree, or are free.  Keys grow up from
 * the page header to pd_lower, what belongs to them grows down from the special space
 * to pd_upper: in a leaf the TIDs, above a leaf the Links.  The hole between is a true
 * hole, which generic WAL neither compares nor logs.
 *
 * In a leaf the first `nsorted` entries are in order, the rest as they came; a split or
 * a merge sorts them.  Above the leaves all entries are in order, and each is the lower
 * bound of its child.  The lower bound of a leftmost page is below all entries:
 * entry_before(0).
 */
typedef struct DownlinkData
{
	ItemPointerData tid;
	BlockIdData child;
} DownlinkData;

typedef struct TreePageOpaqueData
{
	/* lower bound of the entries; never changes as long as the page is in a tree */
	uint64		low_key;
	/* upper bound, exclusive; unless the page is rightmost */
	uint64		high_key;
	ItemPointerData low_tid;
	ItemPointerData high_tid;
	BlockNumber right;			/* right sibling, or InvalidBlockNumber; of a free
								 * page, the next free one */
	uint16		nsorted;
	uint16		unused[3];		/* so that page_id ends the page */
	uint16		level;			/* 0: leaf */
	uint16		flags;
	uint16		tree;
	uint16		page_id;		/* TREE_PAGE_ID; the page ends with it, where tools
								 * look for what kind of index it is of */
} TreePageOpaqueData;

typedef TreePageOpaqueData *TreePageOpaque;

#define TREE_PAGE_ID			0xFF98

/* The right sibling has no entry in the parent yet. */
#define TREE_INCOMPLETE_SPLIT	0x0001

/* The page is in no tree, but in the list of free pages. */
#define TREE_FREE_PAGE			0x0002

#define TreePageGetOpaque(page) ((TreePageOpaque) PageGetSpecialPointer(page))

/* Where entries begin and end. */
#define TREE_PAGE_LOWER		MAXALIGN(SizeOfPageHeaderData)
#define TREE_PAGE_UPPER		(BLCKSZ - MAXALIGN(sizeof(TreePageOpaqueData)))

/* Bytes of an entry, and the most that fit on a page. */
#define LEAF_ENTRY_SIZE		(sizeof(uint64) + sizeof(ItemPointerData))
#define INNER_ENTRY_SIZE	(sizeof(uint64) + sizeof(DownlinkData))
#ifndef SIMHASH_TEST_BUILD
#define MAX_LEAF_ENTRIES	((TREE_PAGE_UPPER - TREE_PAGE_LOWER) / LEAF_ENTRY_SIZE)
#define MAX_INNER_ENTRIES	((TREE_PAGE_UPPER - TREE_PAGE_LOWER) / INNER_ENTRY_SIZE)
#else
#define MAX_LEAF_ENTRIES	12	/* so that few rows make high trees */
#define MAX_INNER_ENTRIES	8
#endif

/* The special space of a page that nobody has checked, where a sound page has it. */
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

static inline BlockNumber
inner_child(Page page, int i)
{
	return BlockIdGetBlockNumber(&inner_downlink(page, i)->child);
}

static inline Entry
page_entry(Page page, int i)
{
	Entry		entry;

	entry.key = page_keys(page)[i];
	entry.tid = page_is_leaf(page) ? *leaf_tid(page, i) : inner_downlink(page, i)->tid;
	return entry;
}

static inline int
page_max_entries(Page page)
{
	return page_is_leaf(page) ? MAX_LEAF_ENTRIES : MAX_INNER_ENTRIES;
}

static inline bool
page_is_full(Page page)
{
	return page_nentries(page) == page_max_entries(page);
}

/*
 * Whether a TID may be handed to the server, which relies on it; tidbitmap.c
 * has the same bounds.
 */
static inline bool
tid_is_valid(const ItemPointerData *tid)
{
	return ItemPointerIsValid(tid) &&
		ItemPointerGetOffsetNumberNoCheck(tid) <= MaxHeapTuplesPerPage;
}

/* A TID as a number, in TID order; it may be an invalid one. */
static inline uint64
tid_number(const ItemPointerData *tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

/* For hash tables of TIDs. */
static inline uint32
tid_number_hash(uint64 number)
{
	return hash_combine(murmurhash32((uint32) number), murmurhash32(number >> 32));
}

static inline ItemPointerData
tid_of_number(uint64 number)
{
	ItemPointerData tid;

	ItemPointerSet(&tid, number >> 16, number & 0xFFFF);
	return tid;
}

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

/* Before all entries of a key, which have TIDs. */
static inline Entry
entry_before(uint64 key)
{
	Entry		entry = {0};

	entry.key = key;
	return entry;
}

/* The first page of each level begins here. */
static inline Entry
lowest_entry(void)
{
	return entry_before(0);
}

/* No entry is beyond it. */
static inline Entry
highest_entry(void)
{
	Entry		entry = {PG_UINT64_MAX, tid_of_number(UINT64CONST(0xFFFFFFFFFFFF))};

	return entry;
}

static inline Entry
page_low_key(Page page)
{
	TreePageOpaque opaque = TreePageGetOpaque(page);
	Entry		low_key = {opaque->low_key, opaque->low_tid};

	return low_key;
}

/* The upper bound of a page that is not rightmost. */
static inline Entry
page_high_key(Page page)
{
	TreePageOpaque opaque = TreePageGetOpaque(page);
	Entry		high_key = {opaque->high_key, opaque->high_tid};

	return high_key;
}

/* Whether an entry belongs to the right of a page. */
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

/* An entry, and above the leaves the child that it is the bound of. */
typedef struct PageItem
{
	Entry		entry;
	BlockNumber child;
} PageItem;

/* Both ends of a page will be looked at: fetch them at the same time. */
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
extern void page_sort_items(PageItem *items, int n);
pg_noreturn extern void page_report_corruption(Relation index, BlockNumber block,
											   const char *what);
extern void page_check(Relation index, Buffer buffer);

/* Report a TID of a leaf that cannot be handed to the server. */
static inline void
leaf_check_tid(Relation index, Buffer buffer, const ItemPointerData *tid)
{
	if (!tid_is_valid(tid))
		page_report_corruption(index, BufferGetBlockNumber(buffer),
							   "an entry has no valid TID");
}

#endif							/* SIMHASH_PAGE_H */
