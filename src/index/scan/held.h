/*-------------------------------------------------------------------------
 *
 * held.h
 *		Matches held back until everything nearer has been handed out
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_HELD_H
#define SIMHASH_HELD_H

#include "storage/itemptr.h"
#include "utils/palloc.h"

typedef struct Held Held;

extern Held *held_create(MemoryContext parent);
extern void held_reset(Held *held);
extern void held_enlarge(Held *held, bool may_sort);
extern void held_free(Held *held);
extern void held_add(Held *held, int distance, const ItemPointerData *tid);
extern int	held_farthest(const Held *held);
extern int	held_take(Held *held, int distance, ItemPointerData *tids, int max);

#endif							/* SIMHASH_HELD_H */
