/*
 * Queue of TIDs that wait until all nearer TIDs have been returned
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_DISTANCE_QUEUE_H
#define SIMHASH_DISTANCE_QUEUE_H

#include "storage/itemptr.h"

typedef struct DistanceQueue DistanceQueue;

extern DistanceQueue *distance_queue_create(MemoryContext parent);
extern void distance_queue_reset(DistanceQueue *queue);
extern void distance_queue_enlarge(DistanceQueue *queue, bool may_sort);
extern void distance_queue_free(DistanceQueue *queue);
extern void distance_queue_add(DistanceQueue *queue, int distance,
							   const ItemPointerData *tid);
extern int	distance_queue_farthest(const DistanceQueue *queue);
extern int	distance_queue_fetch(DistanceQueue *queue, int distance, ItemPointerData *tids,
								 int max);

#endif							/* SIMHASH_DISTANCE_QUEUE_H */
