/*
 * Following links: pinning and locking the pages to which links lead
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"

#include "index/tree/tree.h"

/*
 * Return true if a page is the page that a link describes.  That is so if it is not free,
 * and its tree, level and low key are equal to the link's.
 */
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
 * Return true if a locked page is still the page that a link describes, false if the link
 * is stale.  Raises an error if the page is not sound (page_check).
 *
 * The page's low key must be equal to the link's.  A page with a smaller low key may be
 * any page to the left of the page that the link describes.
 */
bool
page_matches(Relation index, Buffer buffer, const PageLink *link)
{
	page_check(index, buffer);
	return identity_matches(TreePageGetOpaque(BufferGetPage(buffer)), link);
}

/*
 * Raise an error unless a pinned page, which is not locked, is the page that a link
 * describes.
 *
 * The caller holds the lock of the page from which it read the link.  So in a sound index
 * the fields read here cannot change.  In a damaged index the link may lead to any page.
 * Waiting for the lock of that page could deadlock: the caller, or a process that waits
 * for the caller, may hold it.  Hence this check before the lock.
 */
void
page_peek(Relation index, Buffer buffer, const PageLink *link)
{
	if (!identity_matches(page_opaque_unchecked(BufferGetPage(buffer)), link))
		page_report_mismatch(index, link);
}

/*
 * Return true if a block is neither the metapage nor past the end of the file, so that it
 * may contain a tree page.  After this check, a damaged link neither reads past the end nor
 * extends the file (as block number P_NEW would).
 */
bool
page_is_readable(Relation index, BlockNumber block)
{
	return block != META_BLOCK && meta_has_block(index, block);
}

/*
 * Raise the error that a page does not match a link that cannot be stale.
 */
void
page_report_mismatch(Relation index, const PageLink *link)
{
	page_report_corruption(index, link->block,
						   "it is not the page that a link to it describes");
}

/*
 * Pin the block that a link leads to, and return its buffer.  `strategy` may be NULL.
 * Raises an error if the block cannot contain a tree page (page_is_readable).
 */
Buffer
page_pin(Relation index, const PageLink *link, BufferAccessStrategy strategy)
{
	if (!page_is_readable(index, link->block))
		page_report_corruption(index, link->block,
							   "a link leads to it, but it is the metapage or past the end of the file");
	if (strategy == NULL)
		return hint_read_buffer(index, link->block);
	return ReadBufferExtended(index, MAIN_FORKNUM, link->block, RBM_NORMAL, strategy);
}

/*
 * Pin and lock the page that a link leads to, and return its buffer.  Returns
 * InvalidBuffer, with nothing pinned, if the link is stale.
 *
 * The caller must not hold the lock of any page.  A stale link may lead to any page, but
 * a process that waits without a lock cannot be part of a deadlock.
 */
Buffer
page_follow(Relation index, const PageLink *link, int lock)
{
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	pause_before_link(link->level);
	buffer = page_pin(index, link, NULL);
	page_prefetch(BufferGetPage(buffer));
	LockBuffer(buffer, lock);
	if (page_matches(index, buffer, link))
		return buffer;
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/*
 * Pin and exclusively lock the page that a link leads to, and return its buffer.  The
 * caller still holds the lock of the page from which it read the link.  So the link is not
 * stale, and leads down or right.  Raises an error if the page does not match the link.
 */
Buffer
page_follow_held(Relation index, const PageLink *link)
{
	Buffer		buffer = page_pin(index, link, NULL);

	page_peek(index, buffer, link);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (!page_matches(index, buffer, link))
		page_report_mismatch(index, link);
	return buffer;
}

/*
 * Copy a locked page, then unlock and unpin it.
 */
void
page_copy_and_release(Buffer buffer, Page copy)
{
	memcpy(copy, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
}

#ifdef SIMHASH_TEST_BUILD

/*
 * Key of an advisory lock.  A session that holds this lock exclusively makes other
 * sessions wait at their pause.
 */
#define PAUSE_LOCK	19

static int	pause_level;		/* pause before a link to this level; -1 for no pause */
static int	pause_skip;			/* number of links to this level to follow before the
								 * pause */
static int	nfollowed;			/* number of links to this level that have been
								 * followed since pause_level was set */

static void
assign_level(int value, void *extra)
{
	nfollowed = 0;
}

/*
 * Define the settings that make a session pause: simhash.pause_skip and
 * simhash.pause_level.  Set simhash.pause_skip first.  The count of links starts again when
 * simhash.pause_level is set.
 */
void
pause_init(void)
{
	DefineCustomIntVariable("simhash.pause_skip",
							"Links that are followed before the pause.", NULL,
							&pause_skip, 0, 0, INT_MAX, PGC_USERSET, 0,
							NULL, NULL, NULL);
	DefineCustomIntVariable("simhash.pause_level",
							"Waits for advisory lock 19 before a link to a page of this level is followed, once.",
							NULL, &pause_level, -1, -1, INT_MAX, PGC_USERSET, 0,
							NULL, assign_level, NULL);
}

/*
 * Wait for the advisory lock if the settings choose this link for the pause.  `level` is
 * the level of the page to which the link leads.  The caller must not hold the lock of any
 * page.
 */
void
pause_before_link(int level)
{
	if (level != pause_level || nfollowed++ != pause_skip)
		return;
	DirectFunctionCall1(pg_advisory_lock_shared_int8, Int64GetDatum(PAUSE_LOCK));
	DirectFunctionCall1(pg_advisory_unlock_shared_int8, Int64GetDatum(PAUSE_LOCK));
}

#endif
