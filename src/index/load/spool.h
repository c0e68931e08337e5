/*
 * Collecting the rows of a build, and sorting them for each permuted table
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SPOOL_H
#define SIMHASH_SPOOL_H

#include "index/simhash/design.h"
#include "index/tree/page.h"

typedef struct Spool Spool;

extern Spool *spool_create(int memory);
extern void spool_reuse(Spool *spool);
extern void spool_add(Spool *spool, SimHash fp, const ItemPointerData *tid);
extern int64 spool_count(const Spool *spool);
extern void spool_begin(Spool *spool, const PermutedTable *table);
extern bool spool_sort(Spool *spool);
extern bool spool_next(Spool *spool, Entry *entry);
extern void spool_free(Spool *spool);

#endif							/* SIMHASH_SPOOL_H */
