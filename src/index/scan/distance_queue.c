/*-------------------------------------------------------------------------
 *
 * distance_queue.c
 *		TIDs queued by distance until all nearer ones have been returned
 *
 * There is a list for each distance.  Their total size is limited.  Beyond the limit the
 * farthest TIDs are dropped, because most searches want the nearest few and never reach
 * the others.  A search that does reach a dropped distance has to find its TIDs anew.  Then
 * the limit is raised, up to work_mem.  After that all TIDs that are left are sorted, on
 * disk if need be.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/pair_sort.h"
#include "index/scan/distance_queue.h"
#include "index/tree/page.h"
#include "type/simhash_type.h"

/* The TIDs at one distance. */
typedef struct TidList
{
	ItemPointerData *tids;
	size_t		n;
	size_t		size;			/* allocated */
	size_t		taken;
} TidList;

struct DistanceQueue
{
	MemoryContext context;
	size_t		size;			/* of all lists, in TIDs */
	size_t		max_size;
	int			farthest;		/* distance of which nothing was dropped */
	TidList	list[SIMHASH_BITS + 1];

	/* or all TIDs in a sort, by distance */
	Tuplesortstate *sort;
	bool		sorted;
	bool		has_next;		/* a TID was read but not taken: */
	uint64		next_distance;
	uint64		next_tid;
};

#define INITIAL_SIZE	16

/* The size of all lists together: its limit at first, and by what that is raised. */
#define FIRST_MAX_SIZE	1024
#define RAISE_MAX_SIZE	16

/*
 * Create an empty queue, in a memory context of its own.
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

static void
free_tid_list(DistanceQueue *queue, TidList *list)
{
	if (list->tids)
		pfree(list->tids);
	queue->size -= list->size;
	memset(list, 0, sizeof(TidList));
}

static void
queue_end_sort(DistanceQueue *queue)
{
	if (queue->sort)
		tuplesort_end(queue->sort);
	queue->sort = NULL;
}

static void
queue_begin_sort(DistanceQueue *queue)
{
	MemoryContext old_context = MemoryContextSwitchTo(queue->context);

	queue->sort = pair_sort_begin(work_mem);
	queue->sorted = false;
	MemoryContextSwitchTo(old_context);
}

static void
forget_tids(DistanceQueue *queue)
{
	for (int i = 0; i <= SIMHASH_BITS; i++)
		free_tid_list(queue, &queue->list[i]);
	queue_end_sort(queue);
	queue->farthest = SIMHASH_BITS;
}

/*
 * Empty the queue, for a new search.
 */
void
distance_queue_reset(DistanceQueue *queue)
{
	forget_tids(queue);
	queue->max_size = FIRST_MAX_SIZE;
}

/*
 * Empty the queue and raise its limit, for the same search, which had to drop some TIDs.
 * If may_sort, the caller adds all TIDs before it takes the first.
 */
void
distance_queue_enlarge(DistanceQueue *queue, bool may_sort)
{
	size_t		limit = Max(work_mem * (size_t) 1024 / sizeof(ItemPointerData),
							FIRST_MAX_SIZE);

	forget_tids(queue);
	if (queue->max_size == limit && may_sort)
		queue_begin_sort(queue);
	queue->max_size = Min(queue->max_size * RAISE_MAX_SIZE, limit);
}

void
distance_queue_free(DistanceQueue *queue)
{
	queue_end_sort(queue);
	MemoryContextDelete(queue->context);
}

/*
 * Enlarge a list and drop the farthest lists beyond the limit.  This list may be dropped,
 * too.
 */
static void
enlarge_list(DistanceQueue *queue, int distance)
{
	TidList  *list = &queue->list[distance];
	size_t		size = Max(INITIAL_SIZE, 2 * list->size);

	while (queue->size - list->size + size > queue->max_size &&
		   queue->farthest >= distance)
		free_tid_list(queue, &queue->list[queue->farthest--]);
	if (queue->farthest < distance)
		return;
	list->tids = list->tids ?
		repalloc_huge(list->tids, size * sizeof(ItemPointerData)) :
		MemoryContextAlloc(queue->context, size * sizeof(ItemPointerData));
	queue->size += size - list->size;
	list->size = size;
}

/*
 * Add a TID.  This may lower distance_queue_farthest.
 */
void
distance_queue_add(DistanceQueue *queue, int distance, const ItemPointerData *tid)
{
	TidList  *list = &queue->list[distance];

	if (queue->sort)
	{
		pair_sort_put(queue->sort, distance, tid_number(tid));
		return;
	}
	if (distance > queue->farthest)
		return;
	if (list->n == list->size)
		enlarge_list(queue, distance);
	if (distance <= queue->farthest)
		list->tids[list->n++] = *tid;
}

/*
 * Return the farthest distance of which no TID has been dropped.
 */
int
distance_queue_farthest(const DistanceQueue *queue)
{
	return queue->farthest;
}

static void
read_sorted(DistanceQueue *queue)
{
	queue->has_next = pair_sort_get(queue->sort, &queue->next_distance, &queue->next_tid);
}

static int
take_sorted(DistanceQueue *queue, int distance, ItemPointerData *tids, int max)
{
	int			n = 0;

	if (!queue->sorted)
	{
		tuplesort_performsort(queue->sort);
		queue->sorted = true;
		read_sorted(queue);
	}
	while (n < max && queue->has_next && queue->next_distance <= distance)
	{
		tids[n++] = tid_of_number(queue->next_tid);
		read_sorted(queue);
	}
	return n;
}

/*
 * Take at most max TIDs at a distance.  Returns their number, 0 if there are no more.
 * Where all TIDs are sorted, none may be added after the first is taken.
 */
int
distance_queue_take(DistanceQueue *queue, int distance, ItemPointerData *tids, int max)
{
	TidList  *list = &queue->list[distance];
	int			n;

	if (queue->sort)
		return take_sorted(queue, distance, tids, max);
	n = Min(max, list->n - list->taken);
	if (n == 0)
	{
		free_tid_list(queue, list);
		return 0;
	}
	memcpy(tids, list->tids + list->taken, n * sizeof(ItemPointerData));
	list->taken += n;
	return n;
}
