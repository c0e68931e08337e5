/*
 * Trees: the metapage, links between pages, and the functions that read and change trees, by
 * the file that defines them
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_TREE_H
#define SIMHASH_TREE_H

#include "access/generic_xlog.h"

#include "index/opclass.h"
#include "index/simhash/design.h"
#include "index/tree/page.h"

/* --- meta.c: the metapage, with the design, parameters and roots of an index ------- */

#define META_BLOCK			0
#define META_MAGIC			0x5348584D	/* "SHXM" */
#define META_VERSION		6

/*
 * There is one tree for each permuted table of the design.  The last tree contains the
 * placeholders: entries of NULLs and of values without keys.
 */
#define MAX_TREES			(DESIGN_MAX_TABLES + 1)

/*
 * Maximum level of a root.  If each inner page has at least two downlinks, a tree of 2^32
 * blocks has no higher level.
 */
#define MAX_LEVEL			31

/* The root of a tree. */
typedef struct TreeRoot
{
	BlockNumber block;
	uint32		level;			/* 0 if the root is a leaf */
} TreeRoot;

/* The metapage on disk. */
typedef struct MetaPageData
{
	uint32		magic;
	uint32		version;
	uint16		blocks;			/* first of the three options of the design (design.h) */
	uint16		prefix;
	uint16		nested;
	uint16		ntrees;			/* number of trees */
	BlockNumber free_page;		/* first page of the free list (free_list.c), or
								 * InvalidBlockNumber */
	uint32		nfree;			/* number of free pages */
	int32		params;			/* parameters of all values (opclass.h), or NO_PARAMS */
	TreeRoot	root[MAX_TREES];	/* only root[0..ntrees-1] are on disk */
} MetaPageData;

#define MetaPageGetData(page) ((MetaPageData *) PageGetContents(page))

/*
 * The metapage in a backend's relation cache.  The root of a tree may have been split after
 * the metapage was read.  Then root[] has the leftmost page of a lower level
 * (follow_root in descend.c).
 */
typedef struct IndexMeta
{
	int			ntrees;			/* number of trees */
	int32		params;			/* parameters of all values (opclass.h), or NO_PARAMS */
	Design		design;
	TreeRoot	root[MAX_TREES];
	BlockNumber nblocks;		/* length of the file in blocks, as last read */
} IndexMeta;

/* Return the number of the tree of placeholders, which is the last tree. */
static inline int
placeholder_tree(const IndexMeta *meta)
{
	return meta->design.ntables;
}

extern void meta_init(Page page, const Design *design, int32 params,
					  const TreeRoot *roots);
extern Buffer meta_lock(Relation index, int lock);
extern const IndexMeta *meta_get(Relation index);
extern const IndexMeta *meta_reread(Relation index);
extern BlockNumber meta_count_free(Relation index);
extern bool meta_has_block(Relation index, BlockNumber block);
extern const Opclass *opclass_of_trees(Relation index);
extern int32 params_of_index(Oid index);

/* --- links ---------------------------------------------------------------------- */

/*
 * A link to a page, read from a downlink or a right-link.  It contains the block, and the
 * tree, level and low key of the page that the block contained at that moment.
 *
 * Before the link is followed, the page may be merged into its left sibling.  Then the
 * link is stale.  The page's block may then contain another page, of any tree and level.
 */
typedef struct PageLink
{
	Entry		low_key;		/* low key of the page */
	BlockNumber block;
	int			tree;			/* number of the tree, from 0 */
	int			level;			/* 0 is the leaf level */
} PageLink;

/*
 * Maximum number of stale links in one descent, and of retries elsewhere.  Two stale links
 * in one descent are rare.  If there are more than the maximum, the index is damaged.
 */
#define MAX_STALE_LINKS		100

/* Return the right-link of a page that is not rightmost. */
static inline PageLink
page_right_link(Page page)
{
	TreePageOpaque opaque = TreePageGetOpaque(page);
	PageLink	link = {page_high_key(page), opaque->right, opaque->tree, opaque->level};

	return link;
}

/* Return the i-th downlink of an inner page. */
static inline PageLink
page_downlink(Page page, int i)
{
	TreePageOpaque opaque = TreePageGetOpaque(page);
	PageLink	link = {page_entry(page, i), inner_child(page, i), opaque->tree,
		opaque->level - 1};

	return link;
}

/* --- functions ------------------------------------------------------------------- */

/* link.c */
extern bool page_matches(Relation index, Buffer buffer, const PageLink *link);
extern void page_peek(Relation index, Buffer buffer, const PageLink *link);
pg_noreturn extern void page_report_mismatch(Relation index, const PageLink *link);
extern bool page_is_readable(Relation index, BlockNumber block);
extern Buffer page_pin(Relation index, const PageLink *link, BufferAccessStrategy strategy);
extern Buffer page_follow(Relation index, const PageLink *link, int lock);
extern Buffer page_follow_held(Relation index, const PageLink *link);
extern void page_copy_and_release(Buffer buffer, Page copy);

/* buffer_hint.c */
extern Buffer hint_read_buffer(Relation index, BlockNumber block);
extern Buffer hint_prefetch_buffer(Relation index, BlockNumber block, int *nentries);
extern void hint_set_nentries(Relation index, BlockNumber block, int nentries);

/* descend.c */
extern Buffer descend_arrive(Relation index, int tree, int level,
							 const Entry *entry, int lock);
extern Buffer descend_to(Relation index, int tree, int level,
						 const Entry *entry, int lock);
extern Buffer descend_move_right(Relation index, Buffer buffer, const Entry *entry, int lock,
								 bool stop_at_incomplete);
extern Buffer descend_follow(Relation index, const PageLink *link, const Entry *entry);
extern int	descend_find_leaves(Relation index, int tree, uint64 low, uint64 high,
								PageLink *leaves, int max, uint64 *end);
extern int	guess_position(uint64 first, uint64 end, int n, uint64 key);
extern int	find_child(Page page, const Entry *entry);
extern int	page_search(Page page, int n, const Entry *entry);
extern int	page_search_from(Page page, int n, const Entry *entry, int at);

/* split.c */
extern void split_insert(Relation index, Buffer buffer, const Entry *entry,
						 BlockNumber child, Buffer child_buffer);
extern void split_finish_in_place(Relation index, int tree, int level,
								  const Entry *high_key);
extern Buffer split_descend(Relation index, int tree, int level, const Entry *entry);

/* merge.c */
extern int	merge_limit(int level);
extern bool merge_into_left(Relation index, const PageLink *link);

/*
 * link.c: a point where tests make a process wait
 *
 * The pause is compiled with SIMHASH_TEST_BUILD only.  That macro also makes pages small
 * (page.h), so that a few hundred rows make trees of several levels.  With the pause, a
 * test can choose what happens after a process has read a link and before it reads the
 * page.
 */
#ifdef SIMHASH_TEST_BUILD
extern void pause_init(void);
extern void pause_before_link(int level);
#else
#define pause_init()				((void) 0)
#define pause_before_link(level)	((void) 0)
#endif

/* free_list.c */
extern Buffer free_list_take(Relation index, Buffer meta_buffer);
extern void free_list_remove(MetaPageData *meta, Page page);
extern void free_list_add(MetaPageData *meta, Page page, BlockNumber block);
extern void free_list_check(Relation index);

/* --- wal.c: WAL records of entries appended to leaves ------------------------------- */

/* Maximum number of pages in one WAL record. */
#define WAL_MAX_PAGES		MAX_GENERIC_XLOG_PAGES

/* Maximum number of entries in one WAL record. */
#define WAL_MAX_ENTRIES		256

/* Place of pd_lower and pd_upper, which are adjacent, on a page. */
#define WAL_BOUNDS_OFFSET	offsetof(PageHeaderData, pd_lower)
#define WAL_BOUNDS_SIZE		(2 * sizeof(LocationIndex))

StaticAssertDecl(offsetof(PageHeaderData, pd_upper) ==
				 WAL_BOUNDS_OFFSET + sizeof(LocationIndex),
				 "pd_lower and pd_upper are adjacent");

/* A leaf of a WAL record. */
typedef struct WalPage
{
	Buffer		buffer;
	int			nentries;		/* number of entries on the page before the change */
	char		bounds[WAL_BOUNDS_SIZE];	/* pd_lower and pd_upper before the change */
} WalPage;

/* A WAL record that is being made. */
typedef struct WalRecord
{
	GenericXLogState *generic;	/* NULL if the record is made by hand */
	bool		is_logged;		/* false if the index needs no WAL */
	int			npages;
	WalPage		page[WAL_MAX_PAGES];
} WalRecord;

extern void wal_init(void);
extern void wal_begin(WalRecord *record, Relation index);
extern Page wal_register(WalRecord *record, Buffer leaf);
extern void wal_finish(WalRecord *record);

#endif							/* SIMHASH_TREE_H */
