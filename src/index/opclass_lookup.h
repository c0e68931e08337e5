/*
 * The operator class of an index, and the parameters of its column, from the catalog
 *
 * Values of some types, such as signatures, have parameters.  Comparing two values with
 * different parameters is an error.  So all values of an index have the same parameters.
 * Then an index scan and a sequential scan never differ.  The parameters are the type
 * modifier of the indexed column.  The build stores them in the metapage, and they never
 * change (tree/meta.c).
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_OPCLASS_LOOKUP_H
#define SIMHASH_OPCLASS_LOOKUP_H

#include "utils/relcache.h"

#include "compat.h"
#include "index/opclass.h"

extern const Opclass *opclass_of_family(Oid family, Oid type);
extern const Opclass *opclass_of_index(Relation index);

extern int32 params_of_catalog(Relation index, const Opclass *opclass);
extern int32 params_of_column(Relation index, const Opclass *opclass);
pg_noreturn extern void params_report_other(Relation index, const Opclass *opclass,
											int32 params, int32 found);

/*
 * Raise an error if the parameters of a value, `found`, differ from the parameters of the
 * index, `params`.  NULLs have no parameters, so every index may contain NULLs.
 */
static inline void
params_check(Relation index, const Opclass *opclass, int32 params, int32 found)
{
	if (found != params && found != NO_PARAMS)
		params_report_other(index, opclass, params, found);
}

#endif							/* SIMHASH_OPCLASS_LOOKUP_H */
