/*
 * Downlinks and right-links, and following them
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_LINK_H
#define SIMHASH_LINK_H

#include "storage/bufmgr.h"

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

extern bool page_matches(Relation index, Buffer buffer, const PageLink *link);
extern void page_peek(Relation index, Buffer buffer, const PageLink *link);
pg_noreturn extern void page_report_mismatch(Relation index, const PageLink *link);
extern bool page_is_readable(Relation index, BlockNumber block);
extern Buffer page_pin(Relation index, const PageLink *link, BufferAccessStrategy strategy);
extern Buffer page_follow(Relation index, const PageLink *link, int lock);
extern Buffer page_follow_held(Relation index, const PageLink *link);

#endif							/* SIMHASH_LINK_H */
