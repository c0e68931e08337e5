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
 * All pages but the metapage belong to a B-link tree.  Keys grow up from the page header
 * to pd_lower, what belongs to them grows down from the special space to
 * pd_upper: in a leaf the TIDs, above a leaf the Links.  The hole between is
 * a true hole, which generic WAL neither compares nor logs.
 *
 * In a leaf the first `nsorted` entries are in order, the rest as they came;
 * a split sorts them.  Above a leaf all are in order; an entry is the lower
 * bound of what stands in its child.  That of a leftmost page is below all
 * entries: entry_before(0).
 */
typedef struct LinkData
{
	ItemPointerData tid;
	BlockIdData child;
} LinkData;

typedef struct TreePageOpaqueData
{
	/* upper bound of the entries, exclusive; unless the page is rightmost */
	uint64		high_key;
	ItemPointerData high_tid;
	uint16		nsorted;
	BlockNumber right;			/* right sibling, or InvalidBlockNumber */
	uint32		unused;			/* so that page_id is the last of the page */
	uint16		level;			/* 0: leaf */
	uint16		flags;
	uint16		tree;
	uint16		page_id;		/* TREE_PAGE_ID, last as in other methods */
} TreePageOpaqueData;

typedef TreePageOpaqueData *TreePageOpaque;

#define TREE_PAGE_ID			0xFF98

/* The right sibling has no entry in the parent yet. */
#define TREE_INCOMPLETE_SPLIT	0x0001

#define TreePageGetOpaque(page) ((TreePageOpaque) PageGetSpecialPointer(page))

/* Where entries begin and end. */
#define TREE_PAGE_LOWER		MAXALIGN(SizeOfPageHeaderData)
#define TREE_PAGE_UPPER		(BLCKSZ - MAXALIGN(sizeof(TreePageOpaqueData)))

/* Bytes of an entry, and the most that fit on a page. */
#define LEAF_ENTRY_SIZE		(sizeof(uint64) + sizeof(ItemPointerData))
#define INNER_ENTRY_SIZE	(sizeof(uint64) + sizeof(LinkData))
#ifndef SIMHASH_TEST_BUILD
#define MAX_LEAF_ENTRIES	((TREE_PAGE_UPPER - TREE_PAGE_LOWER) / LEAF_ENTRY_SIZE)
#define MAX_INNER_ENTRIES	((TREE_PAGE_UPPER - TREE_PAGE_LOWER) / INNER_ENTRY_SIZE)
#else
#define MAX_LEAF_ENTRIES	12	/* pause.h */
#define MAX_INNER_ENTRIES	8
#endif

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

static inline LinkData *
inner_link(Page page, int i)
{
	return (LinkData *) ((char *) page + TREE_PAGE_UPPER) - 1 - i;
}

static inline BlockNumber
inner_child(Page page, int i)
{
	return BlockIdGetBlockNumber(&inner_link(page, i)->child);
}

static inline Entry
page_entry(Page page, int i)
{
	Entry		entry;

	entry.key = page_keys(page)[i];
	entry.tid = page_is_leaf(page) ? *leaf_tid(page, i) : inner_link(page, i)->tid;
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

/* The upper bound of a page that is not rightmost. */
static inline Entry
page_high(Page page)
{
	TreePageOpaque opaque = TreePageGetOpaque(page);
	Entry		high = {opaque->high_key, opaque->high_tid};

	return high;
}

/* Whether an entry belongs to the right of the page. */
static inline bool
page_is_left_of(Page page, const Entry *entry)
{
	Entry		high;

	if (page_is_rightmost(page))
		return false;
	high = page_high(page);
	return entry_compare(entry, &high) >= 0;
}

/* Both ends of a page will be looked at: fetch them at the same time. */
static inline void
page_prefetch(Page page)
{
	pg_prefetch(page);
	pg_prefetch((char *) page + TREE_PAGE_UPPER);
}

extern void page_init(Page page, int tree, int level);
extern void page_set_count(Page page, int nentries);
extern void page_set_high(Page page, const Entry *high);
extern void page_append(Page page, const Entry *entry, BlockNumber child);
extern void page_check(Relation index, Buffer buffer, int tree, int level);
pg_noreturn extern void page_report_corruption(Relation index, BlockNumber block,
											   const char *what);
extern bool page_is_readable(Relation index, BlockNumber block);
extern Buffer page_read(Relation index, BlockNumber block, int lock,
						int tree, int level);
extern Buffer page_read_recent(Relation index, BlockNumber block, Buffer recent,
							   int lock, int tree, int level);
extern Buffer page_read_right(Relation index, BlockNumber right,
							  const Entry *high, int lock, int tree, int level);
extern Buffer page_move_right(Relation index, Buffer buffer, const Entry *entry,
							  int lock);
extern Buffer page_step_right(Relation index, Buffer buffer, int lock);
extern Buffer page_new_buffer(Relation index);
extern BlockNumber page_extend(Relation index, BlockNumber n);

#endif							/* SIMHASH_PAGE_H */
