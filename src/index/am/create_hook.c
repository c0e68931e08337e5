/*
 * Check of the parameters of an index before it is created
 *
 * ALTER TABLE ... TYPE creates the indexes of the column again.  If the old and the new
 * type are binary coercible, it keeps the old file, and does not call ambuild.  So without
 * this check it could remove the type modifier of an indexed column.  Then the catalog
 * would no longer have the parameters, and a dump of the table could not be restored.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "utils/rel.h"

#include "index/access_method.h"
#include "index/opclass.h"

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
 * object_access_hook).  Advances the command counter, so that the catalog rows of the new
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
