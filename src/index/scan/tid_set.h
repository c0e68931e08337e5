/*
 * Set of the TIDs that a scan has returned, so that it returns each TID once
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_TID_SET_H
#define SIMHASH_TID_SET_H

#include "storage/itemptr.h"

typedef struct TidSet TidSet;

extern TidSet *tid_set_create(MemoryContext parent, bool may_defer);
extern void tid_set_exclude(TidSet *set, const ItemPointerData *tids, int n);
extern int	tid_set_keep_new(TidSet *set, ItemPointerData *tids, int n);
extern int	tid_set_fetch_deferred(TidSet *set, ItemPointerData *tids, int max);
extern void tid_set_free(TidSet *set);

#endif							/* SIMHASH_TID_SET_H */
