/*
 * Count the hits of each TID, and rank the TIDs by number of hits
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_HIT_COUNTER_H
#define SIMHASH_HIT_COUNTER_H

#include "index/scan/tid_hash.h"

typedef struct HitCounter HitCounter;

extern HitCounter *hit_counter_create(MemoryContext parent);
extern void hit_counter_add(HitCounter *counter, const ItemPointerData *tids, const int *hits,
							int n);
extern int64 hit_counter_in_memory(const HitCounter *counter);
extern uint32 hit_counter_look_up(const HitCounter *counter, uint64 tid);
extern TidCount **hit_counter_by_tid(HitCounter *counter);
extern void hit_counter_rank(HitCounter *counter);
extern int	hit_counter_fetch(HitCounter *counter, ItemPointerData *tids, int max,
							  uint32 *count);
extern void hit_counter_free(HitCounter *counter);

#endif							/* SIMHASH_HIT_COUNTER_H */
