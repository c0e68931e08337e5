/*-------------------------------------------------------------------------
 *
 * opclass_lookup.h
 *		Lookup of the operator class of an index
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_OPCLASS_LOOKUP_H
#define SIMHASH_OPCLASS_LOOKUP_H

#include "utils/relcache.h"

#include "index/opclass.h"

extern const Opclass *opclass_of_family(Oid family, Oid type);
extern const Opclass *opclass_of_index(Relation index);
extern const Opclass *opclass_of_trees(Relation index);

#endif							/* SIMHASH_OPCLASS_LOOKUP_H */
