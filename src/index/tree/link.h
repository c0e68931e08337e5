/*-------------------------------------------------------------------------
 *
 * link.h
 *		Links between pages, and following them
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_LINK_H
#define SIMHASH_LINK_H

#include "storage/bufmgr.h"

#include "index/tree/page.h"

/*
 * What leads to a page: its block, and which page it was when the link was read.
 * A page may be merged into its left sibling, and its block be used for another one,
 * of any tree and level, before the link is followed.  Then the link is stale.
 */
typedef struct PageLink
{
	Entry		low_key;		/* the page's lower bound */
	BlockNumber block;
	int			tree;
	int			level;
} PageLink;

/*
 * How often in a row a process may find that others have changed the page that it was
 * led to.  That rarely happens twice; where it goes on, the index is damaged.
 */
#define MAX_STALE_LINKS		100

/* To the right sibling of a page that is not rightmost. */
static inline PageLink
page_right_link(Page page)
{
	TreePageOpaque opaque = TreePageGetOpaque(page);
	PageLink	link = {page_high_key(page), opaque->right, opaque->tree, opaque->level};

	return link;
}

/* To a child of a page above the leaves. */
static inline PageLink
page_downlink(Page page, int i)
{
	TreePageOpaque opaque = TreePageGetOpaque(page);
	const DownlinkData *downlink = inner_downlink(page, i);
	PageLink	link = {{page_keys(page)[i], downlink->tid},
		BlockIdGetBlockNumber(&downlink->child), opaque->tree, opaque->level - 1};

	return link;
}

extern bool page_matches(Relation index, Buffer buffer, const PageLink *link);
extern void page_peek(Relation index, Buffer buffer, const PageLink *link);
pg_noreturn extern void page_report_mismatch(Relation index, const PageLink *link);
extern bool page_is_readable(Relation index, BlockNumber block);
extern Buffer page_pin(Relation index, const PageLink *link, Buffer recent,
					   BufferAccessStrategy strategy);
extern Buffer page_follow_recent(Relation index, const PageLink *link, Buffer recent,
								 int lock);
extern Buffer page_follow_held(Relation index, const PageLink *link);

/* Pin and lock the page that a link leads to, which was not seen a moment ago. */
static inline Buffer
page_follow(Relation index, const PageLink *link, int lock)
{
	return page_follow_recent(index, link, InvalidBuffer, lock);
}

#endif							/* SIMHASH_LINK_H */
