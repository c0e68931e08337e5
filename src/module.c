/*
 * Entry point of the loadable module
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "compat.h"
#include "index/access_method.h"
#include "index/tree/tree.h"
#include "join/exec/join_state.h"
#include "join/plan/join_clause.h"
#include "planner/planner.h"
#include "text/hash.h"
#include "version.h"

PG_MODULE_MAGIC_EXT(.name = "simhash",.version = SIMHASH_VERSION);

extern PGDLLEXPORT void _PG_init(void);

/*
 * Register options, callbacks and the planner's hooks.  Core calls this once, when it
 * loads the library.  Raises an error if hashes would differ from those of other
 * servers.
 */
void
_PG_init(void)
{
	if (!hash_is_frozen())
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("simhash was compiled with an incompatible hash function"),
				 errdetail("Its fingerprints would differ from the fingerprints of other servers."),
				 errhint("Compile simhash with the header of xxHash 0.8.0 or later.")));
	options_init();
	create_hook_init();
	pause_init();
	wal_init();
	objects_init();
	rewrite_init();
	join_exec_init();
	join_path_init();
	MarkGUCPrefixReserved("simhash");
}
