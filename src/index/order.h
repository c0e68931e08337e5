/*-------------------------------------------------------------------------
 *
 * order.h
 *		Matches held back until everything nearer has been handed out
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ORDER_H
#define SIMHASH_ORDER_H

#include "storage/itemptr.h"
#include "utils/palloc.h"

typedef struct Order Order;

/* How many distances, after the first, may order what is equal in it. */
#define ORDER_MAX_FURTHER	7

extern Order *order_create(MemoryContext parent);
extern void order_reset(Order *order);
extern void order_enlarge(Order *order, bool may_sort);
extern void order_sort_all(Order *order);
extern void order_free(Order *order);
extern void order_hold(Order *order, int distance, uint64 further,
					   const ItemPointerData *tid);
extern int	order_farthest(const Order *order);
extern int	order_take(Order *order, int distance, ItemPointerData *tids, int max);

#endif							/* SIMHASH_ORDER_H */
