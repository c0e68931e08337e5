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

PG_MODULE_MAGIC;
