/*-------------------------------------------------------------------------
 *
 * module.c
 *		What makes this a loadable module
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "compat.h"
#include "index/options.h"
#include "index/tree/pause.h"
#include "planner/rewrite/objects.h"
#include "planner/rewrite/rewrite.h"
#include "planner/table_hook.h"
#include "text/hash.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	if (!hash_is_frozen())
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("simhash was compiled with a hash function that is not its own"),
				 errdetail("Its fingerprints would not compare with those of other servers."),
				 errhint("Compile it with the header of xxHash 0.8.0 or later.")));
	options_init();
	pause_init();
	objects_init();
	rewrite_init();
	table_hook_init();
}
