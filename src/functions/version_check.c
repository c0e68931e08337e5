/*-------------------------------------------------------------------------
 *
 * version_check.c
 *		The version of the library, and a check that it is new enough
 *
 * Each script of the extension calls simhash_check_version(), so that a library never
 * serves SQL objects that are newer than itself.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "compat.h"
#include "version.h"

/*
 * Read the first two numbers of a version, which are those of the extension's script.
 * Returns false if the string does not begin with them.
 */
static bool
read_version(const char *version, int *major, int *minor)
{
	return sscanf(version, "%4d.%4d", major, minor) == 2;
}

PG_FUNCTION_INFO_V1(simhash_version);
/*
 * Return the version of the library.
 */
Datum
simhash_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(SIMHASH_VERSION));
}

PG_FUNCTION_INFO_V1(simhash_check_version);
/*
 * Raise an error if the library is older than a version of the extension.
 */
Datum
simhash_check_version(PG_FUNCTION_ARGS)
{
	const char *needed = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int			major;
	int			minor;
	int			needed_major;
	int			needed_minor;

	if (!read_version(needed, &needed_major, &needed_minor))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid version of simhash: \"%s\"", needed),
				 errhint("Write two numbers, as in \"1.0\".")));
	if (!read_version(SIMHASH_VERSION, &major, &minor))
		elog(ERROR, "library has no version");
	if (major < needed_major || (major == needed_major && minor < needed_minor))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("version %s of simhash needs a newer library than %s",
						needed, SIMHASH_VERSION),
				 errhint("Install the library of version %s on this server. Then reconnect, or restart the "
						 "server if it preloads the library.", needed)));
	PG_RETURN_VOID();
}
