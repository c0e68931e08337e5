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
#include "index/handler.h"
#include "planner/planner.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	options_init();
	rewrite_init();
}
