/*-------------------------------------------------------------------------
 *
 * held.c
 *		Matches held back until everything nearer has been handed out
 *
 * There is a list for each distance.  Together they have a limited size, beyond
 * which the farthest matches are dropped, because most searches want the nearest
 * few and never come to those.  A search that does come so far has to find the dropped
 * matches anew: then the limit is raised, up to work_mem, and after that all matches
 * that are left are sorted, on disk if need be.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/pair_sort.h"
#include "index/scan/held.h"
#include "index/tree/page.h"
#include "type/simhash_type.h"

/* The matches of one distance. */
typedef struct MatchList
{
	ItemPointerData *tids;
	size_t		n;
	size_t		size;			/* allocated */
	size_t		taken;
} MatchList;

struct Held
{
	MemoryContext context;
	size_t		size;			/* of all lists, in matches */
	size_t		max_size;
	int			farthest;		/* distance that is held */
	MatchList	list[SIMHASH_BITS + 1];

	/* or all matches in a sort, by distance */
	Tuplesortstate *sort;
	bool		sorted;
	bool		has_next;		/* whether a match was read but not taken: */
	uint64		next_distance;
	uint64		next_tid;
};

#define INITIAL_SIZE	16

/* The size of all lists together: its limit at first, and by what that is raised. */
#define FIRST_MAX_SIZE	1024
#define RAISE_MAX_SIZE	16

/*
 * Make lists that hold nothing, in a memory context of their own.
 */
Held *
held_create(MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent,
												  "simhash matches held back",
												  ALLOCSET_DEFAULT_SIZES);
	Held	   *held = MemoryContextAllocZero(context, sizeof(Held));

	held->context = context;
	held_reset(held);
	return held;
}

static void
free_list(Held *held, MatchList *list)
{
	if (list->tids)
		pfree(list->tids);
	held->size -= list->size;
	memset(list, 0, sizeof(MatchList));
}

static void
end_sort(Held *held)
{
	if (held->sort)
		tuplesort_end(held->sort);
	held->sort = NULL;
}

static void
begin_sort(Held *held)
{
	MemoryContext old_context = MemoryContextSwitchTo(held->context);

	held->sort = pair_sort_begin(work_mem);
	held->sorted = false;
	MemoryContextSwitchTo(old_context);
}

static void
forget_matches(Held *held)
{
	for (int i = 0; i <= SIMHASH_BITS; i++)
		free_list(held, &held->list[i]);
	end_sort(held);
	held->farthest = SIMHASH_BITS;
}

/*
 * Forget all matches, for a new search.
 */
void
held_reset(Held *held)
{
	forget_matches(held);
	held->max_size = FIRST_MAX_SIZE;
}

/*
 * Forget all matches, to hold more matches of the same search, which had to drop some.
 * If may_sort, all of them are going to be held before the first is taken.
 */
void
held_enlarge(Held *held, bool may_sort)
{
	size_t		limit = Max(work_mem * (size_t) 1024 / sizeof(ItemPointerData),
							FIRST_MAX_SIZE);

	forget_matches(held);
	if (held->max_size == limit && may_sort)
		begin_sort(held);
	held->max_size = Min(held->max_size * RAISE_MAX_SIZE, limit);
}

void
held_free(Held *held)
{
	end_sort(held);
	MemoryContextDelete(held->context);
}

/*
 * Make room for more matches in a list, dropping the farthest lists; this list may be one
 * of those.
 */
static void
enlarge_list(Held *held, int distance)
{
	MatchList  *list = &held->list[distance];
	size_t		size = Max(INITIAL_SIZE, 2 * list->size);

	while (held->size - list->size + size > held->max_size &&
		   held->farthest >= distance)
		free_list(held, &held->list[held->farthest--]);
	if (held->farthest < distance)
		return;
	list->tids = list->tids ?
		repalloc_huge(list->tids, size * sizeof(ItemPointerData)) :
		MemoryContextAlloc(held->context, size * sizeof(ItemPointerData));
	held->size += size - list->size;
	list->size = size;
}

/*
 * Hold a match back.  held_farthest may then be less than it was.
 */
void
held_add(Held *held, int distance, const ItemPointerData *tid)
{
	MatchList  *list = &held->list[distance];

	if (held->sort)
	{
		pair_sort_put(held->sort, distance, tid_number(tid));
		return;
	}
	if (distance > held->farthest)
		return;
	if (list->n == list->size)
		enlarge_list(held, distance);
	if (distance <= held->farthest)
		list->tids[list->n++] = *tid;
}

/*
 * The farthest distance of which no match has been dropped.
 */
int
held_farthest(const Held *held)
{
	return held->farthest;
}

static void
read_sorted(Held *held)
{
	held->has_next = pair_sort_get(held->sort, &held->next_distance, &held->next_tid);
}

static int
take_sorted(Held *held, int distance, ItemPointerData *tids, int max)
{
	int			n = 0;

	if (!held->sorted)
	{
		tuplesort_performsort(held->sort);
		held->sorted = true;
		read_sorted(held);
	}
	while (n < max && held->has_next && held->next_distance <= distance)
	{
		tids[n++] = tid_of_number(held->next_tid);
		read_sorted(held);
	}
	return n;
}

/*
 * Take at most max matches of a distance out; returns their number, 0 when there are no
 * more.  Where all matches are sorted, no match may be added after the first is taken.
 */
int
held_take(Held *held, int distance, ItemPointerData *tids, int max)
{
	MatchList  *list = &held->list[distance];
	int			n;

	if (held->sort)
		return take_sorted(held, distance, tids, max);
	n = Min(max, list->n - list->taken);
	if (n == 0)
	{
		free_list(held, list);
		return 0;
	}
	memcpy(tids, list->tids + list->taken, n * sizeof(ItemPointerData));
	list->taken += n;
	return n;
}
