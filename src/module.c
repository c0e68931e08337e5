/*
 * Entry point of the loadable module, its version, and a check that it is new enough
 *
 * Each script of the extension calls simhash_check_version(), so that a library never
 * serves SQL objects that are newer than itself.  CREATE EXTENSION warns of a database of
 * encoding SQL_ASCII by the same call.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "commands/dbcommands.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "index/access_method.h"
#include "index/tree/tree.h"
#include "join/exec/join_state.h"
#include "join/plan/join_clause.h"
#include "planner/planner.h"
#include "text/hash.h"

/* Version of the library.  test/layout.pl compares the other files that name the version. */
#define SIMHASH_VERSION		"1.0.0"

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

/*
 * simhash_version()
 */
PG_FUNCTION_INFO_V1(simhash_version);
Datum
simhash_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(SIMHASH_VERSION));
}

/*
 * simhash_check_version(version)
 *
 * Raises an error if the library is older than this version of the extension.  Raises a
 * WARNING if the database has encoding SQL_ASCII.  Values that are made of texts there
 * differ from those of other databases, and a stored value cannot be mended.
 */
PG_FUNCTION_INFO_V1(simhash_check_version);
Datum
simhash_check_version(PG_FUNCTION_ARGS)
{
	const char *needed = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int			major;
	int			minor;
	int			needed_major;
	int			needed_minor;

	if (sscanf(needed, "%4d.%4d", &needed_major, &needed_minor) != 2 ||
		strspn(needed, "0123456789.") != strlen(needed))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid version of simhash: \"%s\"", needed),
				 errhint("Write two numbers, as in \"1.0\".")));
	if (sscanf(SIMHASH_VERSION, "%d.%d", &major, &minor) != 2)
		elog(ERROR, "library has no version");
	if (major < needed_major || (major == needed_major && minor < needed_minor))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("version %s of simhash needs a newer library than %s",
						needed, SIMHASH_VERSION),
				 errhint("Install the library of version %s on this server. Then reconnect, or restart the "
						 "server if it preloads the library.", needed)));
	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		ereport(WARNING,
				(errmsg("database \"%s\" has encoding SQL_ASCII, which has no letters beyond ASCII",
						get_database_name(MyDatabaseId)),
				 errdetail("Each byte above 127 counts as a letter without case. So a Chinese sentence is one word."),
				 errhint("For texts that are not ASCII, use a database that you create by CREATE DATABASE name ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0.")));
	PG_RETURN_VOID();
}
