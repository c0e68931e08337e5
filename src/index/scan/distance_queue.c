/*
 * Queue of TIDs that wait until all nearer TIDs have been returned
 *
 * The queue has a list of TIDs for each distance.  The total capacity of the lists is
 * limited.  If it would exceed the limit, the queue drops the lists of the farthest
 * distances.  Most searches return the nearest few TIDs only and never reach the others.
 *
 * A search that does reach a dropped distance must find its TIDs again.  For that, the
 * caller empties the queue and raises the limit, up to work_mem.  If the TIDs do not fit
 * into work_mem either, the queue sorts the remaining TIDs, on disk if need be.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/pair_sort.h"
#include "index/scan/scans.h"

/* The TIDs at one distance. */
typedef struct TidList
{
	ItemPointerData *tids;
	size_t		n;
	size_t		capacity;		/* allocated length of tids */
	size_t		nfetched;		/* number of TIDs fetched, from the start of
								 * tids */
} TidList;

struct DistanceQueue
{
	MemoryContext context;
	size_t		capacity;		/* total capacity of the lists, in TIDs */
	size_t		max_capacity;	/* limit of the total capacity, in TIDs */
	int			farthest;		/* maximum distance up to which no TID was
								 * dropped, inclusive */
	TidList		list[SIMHASH_BITS + 1]; /* indexed by distance */

	PairSort   *sort;			/* sorts distances and TIDs, in place of the
								 * lists.  NULL while the queue uses the lists. */
};

/* Initial capacity of a list, in TIDs. */
#define INITIAL_CAPACITY	16

/*
 * Initial limit of the total capacity, in TIDs, and the factor by which the limit grows.
 */
#define INITIAL_MAX_CAPACITY	1024
#define MAX_CAPACITY_FACTOR		16

/*
 * Create an empty queue in its own memory context, a child of `parent`.
 */
DistanceQueue *
distance_queue_create(MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent,
												  "simhash distance queue",
												  ALLOCSET_DEFAULT_SIZES);
	DistanceQueue *queue = MemoryContextAllocZero(context, sizeof(DistanceQueue));

	queue->context = context;
	distance_queue_reset(queue);
	return queue;
}

/*
 * Free the TIDs of a list and make it empty.
 */
static void
free_tid_list(DistanceQueue *queue, TidList *list)
{
	if (list->tids)
		pfree(list->tids);
	queue->capacity -= list->capacity;
	memset(list, 0, sizeof(TidList));
}

/*
 * Remove all TIDs and end the sort.  Does not change the limit.
 */
static void
queue_clear(DistanceQueue *queue)
{
	for (int i = 0; i <= SIMHASH_BITS; i++)
		free_tid_list(queue, &queue->list[i]);
	pair_sort_end(queue->sort);
	queue->sort = NULL;
	queue->farthest = SIMHASH_BITS;
}

/*
 * Empty the queue for a new search, and reset the limit.
 */
void
distance_queue_reset(DistanceQueue *queue)
{
	queue_clear(queue);
	queue->max_capacity = INITIAL_MAX_CAPACITY;
}

/*
 * Empty the queue and raise its limit, for a search some of whose TIDs may have been
 * dropped.  If may_sort is true, the caller adds all TIDs before it fetches the first
 * one.  In that case the queue sorts the TIDs if the limit has reached work_mem before
 * this call.
 */
void
distance_queue_enlarge(DistanceQueue *queue, bool may_sort)
{
	size_t		limit = Max(work_mem * (size_t) 1024 / sizeof(ItemPointerData),
							INITIAL_MAX_CAPACITY);

	queue_clear(queue);
	if (queue->max_capacity == limit && may_sort)
		queue->sort = pair_sort_begin(queue->context, work_mem);
	queue->max_capacity = Min(queue->max_capacity * MAX_CAPACITY_FACTOR, limit);
}

/*
 * Free the queue and its sort.
 */
void
distance_queue_free(DistanceQueue *queue)
{
	pair_sort_end(queue->sort);
	MemoryContextDelete(queue->context);
}

/*
 * Enlarge the list of a distance.  If the total capacity would exceed the limit, drops
 * the lists of the farthest distances.  The list to enlarge may be one of them.
 */
static void
enlarge_list(DistanceQueue *queue, int distance)
{
	TidList    *list = &queue->list[distance];
	size_t		capacity = Max(INITIAL_CAPACITY, 2 * list->capacity);

	while (queue->capacity - list->capacity + capacity > queue->max_capacity &&
		   queue->farthest >= distance)
		free_tid_list(queue, &queue->list[queue->farthest--]);
	if (queue->farthest < distance)
		return;
	list->tids = list->tids ?
		repalloc_huge(list->tids, capacity * sizeof(ItemPointerData)) :
		MemoryContextAlloc(queue->context, capacity * sizeof(ItemPointerData));
	queue->capacity += capacity - list->capacity;
	list->capacity = capacity;
}

/*
 * Add a TID at a distance in bits, 0 to SIMHASH_BITS.  This may drop TIDs, which lowers
 * distance_queue_farthest().  If the queue sorts its TIDs, it drops none, but it may
 * write to disk.
 */
void
distance_queue_add(DistanceQueue *queue, int distance, const ItemPointerData *tid)
{
	TidList    *list = &queue->list[distance];

	if (queue->sort)
	{
		pair_sort_put(queue->sort, distance, tid_number(tid));
		return;
	}
	if (distance > queue->farthest)
		return;
	if (list->n == list->capacity)
		enlarge_list(queue, distance);
	if (distance <= queue->farthest)
		list->tids[list->n++] = *tid;
}

/*
 * Return the maximum distance up to which no TID has been dropped, inclusive.
 */
int
distance_queue_farthest(const DistanceQueue *queue)
{
	return queue->farthest;
}

/*
 * Fetch TIDs as distance_queue_fetch() does, for a queue that sorts its TIDs.
 */
static int
fetch_sorted_tids(PairSort *sort, int distance, ItemPointerData *tids, int max)
{
	int			n = 0;

	while (n < max && pair_sort_peek(sort) && sort->first <= distance)
	{
		tids[n++] = tid_of_number(sort->second);
		pair_sort_advance(sort);
	}
	return n;
}

/*
 * Fetch at most max TIDs at a distance in bits.  Returns their number, or 0 after the
 * last TID at this distance.  The caller must have fetched all TIDs at smaller distances.
 * If the queue sorts its TIDs, the caller must not add a TID after it has fetched the
 * first one.
 */
int
distance_queue_fetch(DistanceQueue *queue, int distance, ItemPointerData *tids, int max)
{
	TidList    *list = &queue->list[distance];
	int			n;

	if (queue->sort)
		return fetch_sorted_tids(queue->sort, distance, tids, max);
	n = Min(max, list->n - list->nfetched);
	if (n == 0)
	{
		free_tid_list(queue, list);
		return 0;
	}
	memcpy(tids, list->tids + list->nfetched, n * sizeof(ItemPointerData));
	list->nfetched += n;
	return n;
}
