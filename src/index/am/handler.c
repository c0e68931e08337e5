/*
 * The access method: its properties and functions, and a check of each new index
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "commands/vacuum.h"
#include "fmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

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

/* --- check of a new index ----------------------------------------------------------- */

static object_access_hook_type previous_hook = NULL;

/*
 * Return true if a new relation is an index of this access method.  Its row of pg_class
 * is not visible yet, so read the relation cache.
 */
static bool
is_our_index(Oid oid)
{
	Relation	relation = RelationIdGetRelation(oid);
	const IndexAmRoutine *routine = NULL;

	if (!RelationIsValid(relation))
		return false;
	if (relation->rd_rel->relkind == RELKIND_INDEX ||
		relation->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		routine = GetIndexAmRoutineByAmId(relation->rd_rel->relam, true);
	RelationClose(relation);
	return routine && routine->ambuild == simhash_build;
}

/*
 * Raise an error if a new index lacks the parameters that its values have (an
 * object_access_hook).
 *
 * ALTER TABLE ... TYPE creates the indexes of the column again.  If the old and the new
 * type are binary coercible, it keeps the old file, and does not call ambuild.  So without
 * this check it could remove the type modifier of an indexed column.  Then the catalog
 * would no longer have the parameters, and a dump of the table could not be restored.
 *
 * Advances the command counter, so that the catalog rows of the new
 * index are visible.  index_create() advances it next anyway.
 */
static void
check_new_index(ObjectAccessType access, Oid class, Oid object, int sub_object, void *arg)
{
	if (previous_hook)
		previous_hook(access, class, object, sub_object, arg);
	if (access == OAT_POST_CREATE && class == RelationRelationId && sub_object == 0 &&
		is_our_index(object))
	{
		Relation	index;

		CommandCounterIncrement();
		index = index_open(object, NoLock);
		(void) params_of_column(index, opclass_of_index(index));
		index_close(index, NoLock);
	}
}

/*
 * Install the hook.
 */
void
create_hook_init(void)
{
	previous_hook = object_access_hook;
	object_access_hook = check_new_index;
}
