/*
 * The operator class of an index that has been built, checked against the metapage
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_STORED_OPCLASS_H
#define SIMHASH_STORED_OPCLASS_H

#include "utils/relcache.h"

#include "index/opclass.h"

extern const Opclass *opclass_of_trees(Relation index);
extern int32 params_of_index(Oid index);

#endif							/* SIMHASH_STORED_OPCLASS_H */
