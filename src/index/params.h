/*-------------------------------------------------------------------------
 *
 * params.h
 *		Parameters of an index that its values must have
 *
 * Some values can be compared only with values that have the same parameters, and it is an
 * error to compare others.  All values of an index have the same parameters, so that a
 * search of it and a sequential scan never differ.  They are the type modifier of the
 * indexed column, which the build stores in the metapage, for good.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PARAMS_H
#define SIMHASH_PARAMS_H

#include "utils/relcache.h"

#include "compat.h"
#include "index/opclass.h"

extern int32 params_of_column(Relation index, const Opclass *opclass);
extern int32 params_of_index(Oid index);
extern void params_check_stored(Relation index, const Opclass *opclass);
pg_noreturn extern void params_report_other(Relation index, const Opclass *opclass,
											int32 params, int32 found);

/*
 * Raise an error if a value has other parameters than an index.  NULLs have none, and are
 * in every index.
 */
static inline void
params_check(Relation index, const Opclass *opclass, int32 params, int32 found)
{
	if (found != params && found != NO_PARAMS)
		params_report_other(index, opclass, params, found);
}

#endif							/* SIMHASH_PARAMS_H */
