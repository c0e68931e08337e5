/*
 * Merges of pages
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_MERGE_H
#define SIMHASH_MERGE_H

#include "index/tree/link.h"

extern int	merge_limit(int level);
extern bool merge_into_left(Relation index, const PageLink *link);

#endif							/* SIMHASH_MERGE_H */
