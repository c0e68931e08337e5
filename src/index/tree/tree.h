/*
 * Trees: links between pages, and the functions that read and change trees, by the file
 * that defines them
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_TREE_H
#define SIMHASH_TREE_H

#include "storage/bufmgr.h"

#include "index/tree/meta.h"
#include "index/tree/page.h"

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

/* link.c */
extern bool page_matches(Relation index, Buffer buffer, const PageLink *link);
extern void page_peek(Relation index, Buffer buffer, const PageLink *link);
pg_noreturn extern void page_report_mismatch(Relation index, const PageLink *link);
extern bool page_is_readable(Relation index, BlockNumber block);
extern Buffer page_pin(Relation index, const PageLink *link, BufferAccessStrategy strategy);
extern Buffer page_follow(Relation index, const PageLink *link, int lock);
extern Buffer page_follow_held(Relation index, const PageLink *link);

/* buffer_hint.c */
extern Buffer hint_read_buffer(Relation index, BlockNumber block);
extern Buffer hint_prefetch_buffer(Relation index, BlockNumber block, int *nentries);
extern void hint_set_nentries(Relation index, BlockNumber block, int nentries);

/* descend.c */
extern Buffer descend_arrive(Relation index, int tree, int level,
							 const Entry *entry, int lock);
extern Buffer descend_to(Relation index, int tree, int level,
						 const Entry *entry, int lock);
extern Buffer descend_for_insertion(Relation index, int tree, int level,
									const Entry *entry);
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
 * pause.c: a point where tests make a process wait
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

#endif							/* SIMHASH_TREE_H */
