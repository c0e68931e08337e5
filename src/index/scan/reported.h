/*-------------------------------------------------------------------------
 *
 * reported.h
 *		Which rows a scan has reported, where a row may be found more than once
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_REPORTED_H
#define SIMHASH_REPORTED_H

#include "storage/itemptr.h"
#include "utils/palloc.h"

typedef struct Reported Reported;

extern Reported *reported_create(MemoryContext parent, bool may_defer);
extern void reported_exclude(Reported *reported, const ItemPointerData *tids, int n);
extern int	reported_keep_new(Reported *reported, ItemPointerData *tids, int n);
extern int	reported_take_deferred(Reported *reported, ItemPointerData *tids, int max);
extern void reported_free(Reported *reported);

#endif							/* SIMHASH_REPORTED_H */
