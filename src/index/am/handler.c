/*
 * The access method: its properties and functions
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "commands/vacuum.h"
#include "fmgr.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "index/access_method.h"
#include "index/opclass.h"
#include "type/strategy.h"

/*
 * amproperty: tell whether a column supports ORDER BY distance.  PostgreSQL cannot tell
 * this by itself for an access method with amcanorderbyop.  Returns false for other
 * properties, so that PostgreSQL determines them.
 */
static bool
simhash_property(Oid index, int column, IndexAMProperty property,
				 const char *name, bool *result, bool *isnull)
{
	Oid			opclass;
	Oid			opfamily;
	Oid			type;

	if (property != AMPROP_DISTANCE_ORDERABLE || column == 0)
		return false;
	opclass = get_index_column_opclass(index, column);
	if (!OidIsValid(opclass))
	{
		*isnull = true;
		return true;
	}
	opfamily = get_opclass_family(opclass);
	type = get_opclass_input_type(opclass);
	*result = OidIsValid(get_opfamily_member(opfamily, type, type, STRATEGY_DISTANCE)) ||
		OidIsValid(get_opfamily_member(opfamily, type, type, STRATEGY_CONTAINMENT));
	return true;
}

/* Fields that are not listed are false, zero or NULL. */
static const IndexAmRoutine access_method = {
	.type = T_IndexAmRoutine,
	.amstrategies = NSTRATEGIES,
	.amsupport = NPROCS,
	.amcanorderbyop = true,

	/* every row is in the index, even if it is NULL, so a scan needs no condition */
	.amoptionalkey = true,
	.amsearchnulls = true,
	ACCESS_METHOD_CAN_BUILD_PARALLEL
	.amparallelvacuumoptions =
	VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_CLEANUP,

	.ambuild = simhash_build,
	.ambuildempty = simhash_buildempty,
	.aminsert = simhash_insert,
	.ambulkdelete = simhash_bulkdelete,
	.amvacuumcleanup = simhash_vacuumcleanup,
	.amcostestimate = simhash_costestimate,
	.amoptions = simhash_options,
	.amproperty = simhash_property,
	.ambuildphasename = simhash_buildphasename,
	.amvalidate = simhash_validate,
	.ambeginscan = simhash_beginscan,
	.amrescan = simhash_rescan,
	.amgettuple = simhash_gettuple,
	.amgetbitmap = simhash_getbitmap,
	.amendscan = simhash_endscan,
};

/*
 * Return the IndexAmRoutine of the access method.
 */
PG_FUNCTION_INFO_V1(simhash_handler);
Datum
simhash_handler(PG_FUNCTION_ARGS)
{
	RETURN_ACCESS_METHOD(&access_method);
}
