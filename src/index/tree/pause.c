/*-------------------------------------------------------------------------
 *
 * pause.c
 *		A place where tests make a process wait
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"

#include "index/tree/pause.h"

#ifdef SIMHASH_TEST_BUILD

/* Whoever holds this advisory lock exclusively keeps others from following links. */
#define PAUSE_LOCK	19

static int	pause_level;		/* of the pages that links lead to, or -1 */
static int	pause_skip;			/* how many links are followed before */
static int	nfollowed;

static void
assign_level(int value, void *extra)
{
	nfollowed = 0;
}

/*
 * Define the settings by which a session asks for a pause: simhash.pause_level and,
 * to be set before it, simhash.pause_skip.
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
 * Wait, if this is the link to wait before.  The caller holds no lock of a page.
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
