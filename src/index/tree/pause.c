/*
 * A point where tests make a process wait
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <limits.h>

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"

#include "index/tree/tree.h"

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
