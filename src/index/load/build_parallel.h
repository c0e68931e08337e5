/*
 * CREATE INDEX by several processes
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_BUILD_PARALLEL_H
#define SIMHASH_BUILD_PARALLEL_H

#include "access/genam.h"
#include "nodes/execnodes.h"

#include "index/tree/meta.h"

extern bool build_in_parallel(Relation heap, Relation index, IndexInfo *info,
							  const Design *design, TreeRoot *roots,
							  IndexBuildResult *result);

#endif							/* SIMHASH_BUILD_PARALLEL_H */
