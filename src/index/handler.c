/*-------------------------------------------------------------------------
 *
 * handler.c
 *		The access method: what it can do, and by which functions
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/vacuum.h"
#include "fmgr.h"

#include "compat.h"
#include "index/handler.h"

/*
 * amproperty: that rows come in order of distance, nobody else can know.
 */
static bool
simhash_property(Oid index, int column, IndexAMProperty property,
				 const char *name, bool *result, bool *isnull)
{
	if (property != AMPROP_DISTANCE_ORDERABLE || column == 0)
		return false;
	*result = true;
	return true;
}

PG_FUNCTION_INFO_V1(simhash_handler);
Datum
simhash_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *routine = makeNode(IndexAmRoutine);

	routine->amstrategies = NSTRATEGIES;
	routine->amsupport = 0;
	routine->amoptsprocnum = 0;
	routine->amcanorder = false;
	routine->amcanorderbyop = true;
	routine->amcanbackward = false;
	routine->amcanunique = false;
	routine->amcanmulticol = false;

	/* every row is in the index, NULLs too, so no key is needed */
	routine->amoptionalkey = true;
	routine->amsearcharray = false;
	routine->amsearchnulls = true;
	routine->amstorage = false;
	routine->amclusterable = false;
	routine->ampredlocks = false;
	routine->amcanparallel = false;
	routine_set_can_build_parallel(routine);
	routine->amcaninclude = false;
	routine->amusemaintenanceworkmem = false;
	routine->amparallelvacuumoptions =
		VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_CLEANUP;
	routine->amkeytype = InvalidOid;

	routine->ambuild = simhash_build;
	routine->ambuildempty = simhash_buildempty;
	routine->aminsert = simhash_insert;
	routine->ambulkdelete = simhash_bulkdelete;
	routine->amvacuumcleanup = simhash_vacuumcleanup;
	routine->amcanreturn = NULL;
	routine->amcostestimate = simhash_costestimate;
	routine->amoptions = simhash_options;
	routine->amproperty = simhash_property;
	routine->ambuildphasename = simhash_buildphasename;
	routine->amvalidate = simhash_validate;
	routine->amadjustmembers = NULL;
	routine->ambeginscan = simhash_beginscan;
	routine->amrescan = simhash_rescan;
	routine->amgettuple = simhash_gettuple;
	routine->amgetbitmap = simhash_getbitmap;
	routine->amendscan = simhash_endscan;
	routine->ammarkpos = NULL;
	routine->amrestrpos = NULL;
	routine->amestimateparallelscan = NULL;
	routine->aminitparallelscan = NULL;
	routine->amparallelrescan = NULL;

	PG_RETURN_POINTER(routine);
}
