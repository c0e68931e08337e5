/*
 * Another user of the planner hook that simhash uses, for its tests
 *
 * The module reports the tables for which it is called.  It can hide all indexes, like
 * a module that explores plans without an index.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/transam.h"
#include "fmgr.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "compat.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static bool hide_indexes = false;
static table_hook_type previous_hook = NULL;

static void
hook(TABLE_HOOK_PARAMETERS)
{
	Oid			table = planner_rt_fetch(rel->relid, root)->relid;

	if (previous_hook)
		previous_hook(TABLE_HOOK_ARGUMENTS);
	if (table >= FirstNormalObjectId)
		ereport(NOTICE, (errmsg("planning %s", get_rel_name(table))));
	if (hide_indexes)
		rel->indexlist = NIL;
}

void
_PG_init(void)
{
	DefineCustomBoolVariable("simhash_test_hook.hide_indexes", "Hides all indexes.",
							 NULL, &hide_indexes, false, PGC_USERSET, 0,
							 NULL, NULL, NULL);
	previous_hook = table_hook;
	table_hook = hook;
}
