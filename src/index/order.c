/*-------------------------------------------------------------------------
 *
 * order.c
 *		Matches held back until everything nearer has been handed out
 *
 * There is a list for each distance.  Together they have a limited size, beyond
 * which the farthest matches are dropped, because most searches want the nearest
 * few and never come to them.  One that does come so far has to find them anew:
 * then the limit is raised, up to work_mem, and after that all that is left is
 * sorted, on disk if need be.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/order.h"
#include "index/page.h"
#include "index/pair_sort.h"
#include "type/simhash.h"

/* The matches of one distance. */
typedef struct MatchList
{
	ItemPointerData *tids;
	size_t		n;
	size_t		size;			/* allocated */
	size_t		taken;
} MatchList;

struct Order
{
	MemoryContext context;
	size_t		size;			/* of all lists, in matches */
	size_t		max_size;
	int			farthest;		/* distance that is held */
	MatchList	list[SIMHASH_BITS + 1];

	/* or sorted, on disk if need be: by distances, the first one highest */
	Tuplesortstate *sort;
	bool		sorted;
	bool		has_next;		/* a match was read but not taken: */
	uint64		next_distances;
	uint64		next_tid;
};

#define INITIAL_SIZE	16

/* What all lists have together at first, and by what that is raised. */
#define FIRST_MAX_SIZE	1024
#define RAISE_MAX_SIZE	16

/* Where the first of a number of distances is. */
#define FIRST_DISTANCE	(8 * ORDER_MAX_FURTHER)

/*
 * Make one that holds nothing, in a memory context of its own.
 */
Order *
order_create(MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent,
												  "simhash matches held back",
												  ALLOCSET_DEFAULT_SIZES);
	Order	   *order = MemoryContextAllocZero(context, sizeof(Order));

	order->context = context;
	order_reset(order);
	return order;
}

static void
free_list(Order *order, MatchList *list)
{
	if (list->tids)
		pfree(list->tids);
	order->size -= list->size;
	memset(list, 0, sizeof(MatchList));
}

static void
end_sort(Order *order)
{
	if (order->sort)
		tuplesort_end(order->sort);
	order->sort = NULL;
}

static void
begin_sort(Order *order)
{
	MemoryContext old_context = MemoryContextSwitchTo(order->context);

	order->sort = pair_sort_begin(work_mem);
	order->sorted = false;
	MemoryContextSwitchTo(old_context);
}

static void
forget_matches(Order *order)
{
	for (int i = 0; i <= SIMHASH_BITS; i++)
		free_list(order, &order->list[i]);
	end_sort(order);
	order->farthest = SIMHASH_BITS;
}

/*
 * Forget everything that is held, for a new search.
 */
void
order_reset(Order *order)
{
	forget_matches(order);
	order->max_size = FIRST_MAX_SIZE;
}

/*
 * Forget everything that is held, to hold more of the same search, of which some
 * was dropped.  If may_sort, all of it is going to be held before any is taken.
 */
void
order_enlarge(Order *order, bool may_sort)
{
	size_t		limit = Max(work_mem * (size_t) 1024 / sizeof(ItemPointerData),
							FIRST_MAX_SIZE);

	forget_matches(order);
	if (order->max_size == limit && may_sort)
		begin_sort(order);
	order->max_size = Min(order->max_size * RAISE_MAX_SIZE, limit);
}

void
order_free(Order *order)
{
	end_sort(order);
	MemoryContextDelete(order->context);
}

/*
 * Make room for more matches in a list, dropping the farthest lists; it may
 * be one of those.
 */
static void
enlarge_list(Order *order, int distance)
{
	MatchList  *list = &order->list[distance];
	size_t		size = Max(INITIAL_SIZE, 2 * list->size);

	while (order->size - list->size + size > order->max_size &&
		   order->farthest >= distance)
		free_list(order, &order->list[order->farthest--]);
	if (order->farthest < distance)
		return;
	list->tids = list->tids ?
		repalloc_huge(list->tids, size * sizeof(ItemPointerData)) :
		MemoryContextAlloc(order->context, size * sizeof(ItemPointerData));
	order->size += size - list->size;
	list->size = size;
}

/*
 * Forget everything that is held, to sort a search as a whole.
 */
void
order_sort_all(Order *order)
{
	forget_matches(order);
	begin_sort(order);
}

/*
 * Hold a match back.  order_farthest may then be less than it was.
 *
 * What further distances say, one byte each, the last one lowest, counts only
 * where all are sorted.
 */
void
order_hold(Order *order, int distance, uint64 further, const ItemPointerData *tid)
{
	MatchList  *list = &order->list[distance];

	if (order->sort)
	{
		pair_sort_put(order->sort, (uint64) distance << FIRST_DISTANCE | further,
					  tid_number(tid));
		return;
	}
	if (distance > order->farthest)
		return;
	if (list->n == list->size)
		enlarge_list(order, distance);
	if (distance <= order->farthest)
		list->tids[list->n++] = *tid;
}

/*
 * The farthest distance of which everything is held.
 */
int
order_farthest(const Order *order)
{
	return order->farthest;
}

static void
read_sorted(Order *order)
{
	order->has_next = pair_sort_get(order->sort, &order->next_distances,
									&order->next_tid);
}

static int
take_sorted(Order *order, int distance, ItemPointerData *tids, int max)
{
	int			n = 0;

	if (!order->sorted)
	{
		tuplesort_performsort(order->sort);
		order->sorted = true;
		read_sorted(order);
	}
	while (n < max && order->has_next &&
		   order->next_distances >> FIRST_DISTANCE <= distance)
	{
		tids[n++] = tid_of_number(order->next_tid);
		read_sorted(order);
	}
	return n;
}

/*
 * Take at most max matches of a distance out; returns their number, 0 when
 * there are no more.  Nothing is held any more after the first time.
 */
int
order_take(Order *order, int distance, ItemPointerData *tids, int max)
{
	MatchList  *list = &order->list[distance];
	int			n;

	if (order->sort)
		return take_sorted(order, distance, tids, max);
	n = Min(max, list->n - list->taken);
	if (n == 0)
	{
		free_list(order, list);
		return 0;
	}
	memcpy(tids, list->tids + list->taken, n * sizeof(ItemPointerData));
	list->taken += n;
	return n;
}
