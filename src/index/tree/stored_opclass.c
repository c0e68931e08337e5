/*
 * The operator class of an index that has been built, checked against the metapage
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/genam.h"
#include "utils/rel.h"

#include "index/opclass_lookup.h"
#include "index/tree/meta.h"
#include "index/tree/page.h"
#include "index/tree/stored_opclass.h"

/*
 * Return the parameters of an index.  The caller must hold a lock on the index.  Does not
 * check the parameters, because the planner tolerates invalid ones.
 */
int32
params_of_index(Oid index)
{
	Relation	relation = index_open(index, NoLock);
	int32		params = meta_get(relation)->params;

	index_close(relation, NoLock);
	return params;
}

/*
 * Raise an error if the parameters in the metapage are not those of the column, or if no value
 * of the Opclass can have them.  An index remains usable if a superuser has removed the type
 * modifier from the catalog.  This is called for every row inserted, so it allocates no memory.
 */
static void
check_params(Relation index, const Opclass *opclass)
{
	int32		params = meta_get(index)->params;
	int32		expected = params_of_catalog(index, opclass);

	if (params != expected &&
		(opclass->params == NULL || opclass->params->are_valid(expected) ||
		 !opclass->params->are_valid(params)))
		page_report_corruption(index, META_BLOCK, "its parameters are those of other values");
}

/*
 * Return the Opclass of an index that has been built.  Raises an error if the metapage
 * has a design or parameters that an index of this Opclass cannot have.
 */
const Opclass *
opclass_of_trees(Relation index)
{
	const Opclass *opclass = opclass_of_index(index);

	if ((opclass->multi_key != NULL) != design_is_whole(&meta_get(index)->design.options))
		page_report_corruption(index, META_BLOCK, "its design is that of other values");
	check_params(index, opclass);
	return opclass;
}
