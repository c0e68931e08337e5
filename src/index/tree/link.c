/*-------------------------------------------------------------------------
 *
 * link.c
 *		Following links: pinning and locking the pages that they lead to
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/tree/link.h"
#include "index/tree/meta.h"
#include "index/tree/pause.h"

static inline bool
identity_matches(const TreePageOpaqueData *opaque, const PageLink *link)
{
	return (opaque->flags & TREE_FREE_PAGE) == 0 &&
		opaque->tree == link->tree &&
		opaque->level == link->level &&
		opaque->low_key == link->low_key.key &&
		memcmp(&opaque->low_tid, &link->low_key.tid, sizeof(ItemPointerData)) == 0;
}

/*
 * Whether a page, locked, is still the one that a link leads to; checked, too.
 *
 * The page's lower bound has to be equal to the link's.  A page whose bound is less may
 * stand anywhere to the left of the page that was meant.
 */
bool
page_matches(Relation index, Buffer buffer, const PageLink *link)
{
	page_check(index, buffer);
	return identity_matches(TreePageGetOpaque(BufferGetPage(buffer)), link);
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
	if (!identity_matches(page_opaque_unchecked(BufferGetPage(buffer)), link))
		page_report_mismatch(index, link);
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
page_report_mismatch(Relation index, const PageLink *link)
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
	if (page_matches(index, buffer, link))
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
	if (!page_matches(index, buffer, link))
		page_report_mismatch(index, link);
	return buffer;
}
