/*-------------------------------------------------------------------------
 *
 * hit_counter.c
 *		Count how often TIDs are found, and return those with the most hits first
 *
 * TIDs are counted in a hash table within work_mem.  If they do not fit, they are sorted
 * twice: first all hits, by TID, then the TIDs, by their number of hits.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/pair_sort.h"
#include "index/scan/hit_counter.h"
#include "index/tree/page.h"

#define SH_PREFIX			counts
#define SH_ELEMENT_TYPE		TidCount
#define SH_KEY_TYPE			uint64
#define SH_KEY				tid
#define SH_HASH_KEY(tb, key) tid_number_hash(key)
#define SH_EQUAL(tb, a, b)	((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* An element of the hash table, when TIDs are ranked. */
typedef TidCount *RankedTid;

/* Bytes of a TID at worst: while the table grows there is a smaller one beside it. */
#define COUNT_SIZE			(3 * sizeof(TidCount) + sizeof(TidCount *))

struct HitCounter
{
	MemoryContext context;
	counts_hash *counts;		/* NULL: TIDs are sorted */
	uint64		max_counts;
	TidCount **ranked;		/* by their number of hits */
	int64		nranked;
	int64		next;
	Tuplesortstate *found;		/* TIDs and numbers of hits, by TID */
	Tuplesortstate *sorted;		/* each TID once, the most hits first */
	uint64		ahead;			/* the next TID of that, if any is left */
	uint32		ahead_count;
	bool		any_left;
};

/*
 * Compare two TIDs: the one with more hits first, else by TID.
 */
static inline int
compare_counts(const TidCount *a, const TidCount *b)
{
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

#define ST_SORT sort_by_count
#define ST_ELEMENT_TYPE RankedTid
#define ST_COMPARE(a, b) compare_counts(*(a), *(b))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

#define ST_SORT sort_by_tid
#define ST_ELEMENT_TYPE RankedTid
#define ST_COMPARE(a, b) (((*(a))->tid > (*(b))->tid) - ((*(a))->tid < (*(b))->tid))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Create a counter without hits.
 */
HitCounter *
hit_counter_create(MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "simhash hit counter",
												  ALLOCSET_DEFAULT_SIZES);
	HitCounter *counter = MemoryContextAllocZero(context, sizeof(HitCounter));

	counter->context = context;
	counter->counts = counts_create(context, 64, NULL);
	counter->max_counts = work_mem * UINT64CONST(1024) / COUNT_SIZE;
	return counter;
}

static Tuplesortstate *
counter_begin_sort(HitCounter *counter)
{
	MemoryContext old_context = MemoryContextSwitchTo(counter->context);
	Tuplesortstate *sort = pair_sort_begin(work_mem);

	MemoryContextSwitchTo(old_context);
	return sort;
}

/*
 * Sort TIDs from now on, because they are too many to count.
 */
static void
switch_to_sort(HitCounter *counter)
{
	counts_iterator i;
	TidCount *entry;

	counter->found = counter_begin_sort(counter);
	counts_start_iterate(counter->counts, &i);
	while ((entry = counts_iterate(counter->counts, &i)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		pair_sort_put(counter->found, entry->tid, entry->count);
	}
	counts_destroy(counter->counts);
	counter->counts = NULL;
}

/*
 * Count one hit of each TID.
 */
void
hit_counter_add(HitCounter *counter, const ItemPointerData *tids, int n)
{
	for (int i = 0; i < n; i++)
	{
		uint64		tid = tid_number(&tids[i]);
		TidCount *entry;
		bool		known;

		if (counter->counts && counter->counts->members >= counter->max_counts)
			switch_to_sort(counter);
		if (counter->counts == NULL)
		{
			pair_sort_put(counter->found, tid, 1);
			continue;
		}
		entry = counts_insert(counter->counts, tid, &known);
		entry->count = known ? entry->count + 1 : 1;
	}
}

/*
 * Return the number of TIDs if they fit into memory, otherwise -1.
 */
int64
hit_counter_in_memory(const HitCounter *counter)
{
	return counter->counts ? (int64) counter->counts->members : -1;
}

/*
 * Return the number of hits of a TID.  The TIDs must fit into memory.
 */
uint32
hit_counter_look_up(const HitCounter *counter, uint64 tid)
{
	TidCount *entry = counts_lookup(counter->counts, tid);

	return entry ? entry->count : 0;
}

/*
 * Put the TIDs into an array, in no order.  They must fit into memory.
 */
static void
collect_counts(HitCounter *counter)
{
	counts_iterator i;
	TidCount *entry;

	counter->ranked = MemoryContextAllocHuge(counter->context,
											 Max(counter->counts->members, 1) * sizeof(TidCount *));
	counter->nranked = 0;
	counts_start_iterate(counter->counts, &i);
	while ((entry = counts_iterate(counter->counts, &i)) != NULL)
		counter->ranked[counter->nranked++] = entry;
}

/*
 * Return the counts by TID, so that the caller can correct them before they are ranked.
 * The TIDs must fit into memory.
 */
TidCount **
hit_counter_by_tid(HitCounter *counter)
{
	collect_counts(counter);
	sort_by_tid(counter->ranked, counter->nranked);
	return counter->ranked;
}

/*
 * Read the next TID of those that were sorted.
 */
static void
read_ahead(HitCounter *counter)
{
	uint64		first = 0;

	counter->any_left = pair_sort_get(counter->sorted, &first, &counter->ahead);
	counter->ahead_count = PG_UINT32_MAX - first;
}

/*
 * Add up the hits of each TID, and sort the TIDs by their number.
 */
static void
rank_sorted(HitCounter *counter)
{
	uint64		last = 0;
	uint64		count = 0;
	uint64		tid;
	uint64		n;

	tuplesort_performsort(counter->found);
	counter->sorted = counter_begin_sort(counter);
	while (pair_sort_get(counter->found, &tid, &n))
	{
		CHECK_FOR_INTERRUPTS();
		if (tid != last && count > 0)
			pair_sort_put(counter->sorted, PG_UINT32_MAX - count, last);
		count = tid == last ? count + n : n;
		last = tid;
	}
	if (count > 0)
		pair_sort_put(counter->sorted, PG_UINT32_MAX - count, last);
	tuplesort_end(counter->found);
	counter->found = NULL;
	tuplesort_performsort(counter->sorted);
	read_ahead(counter);
}

/*
 * Rank the TIDs, after the last hit.
 */
void
hit_counter_rank(HitCounter *counter)
{
	if (counter->counts == NULL)
		rank_sorted(counter);
	else
	{
		if (counter->ranked == NULL)
			collect_counts(counter);
		sort_by_count(counter->ranked, counter->nranked);
	}
}

/*
 * Take the TIDs ranked next, at most max, that all have the same number of hits, *count.
 * Returns how many TIDs these are, 0 if there are no more.
 */
int
hit_counter_take(HitCounter *counter, ItemPointerData *tids, int max, uint32 *count)
{
	int			n = 0;

	if (counter->counts)
	{
		while (n < max && counter->next < counter->nranked)
		{
			const TidCount *entry = counter->ranked[counter->next];

			if (n > 0 && entry->count != *count)
				break;
			*count = entry->count;
			tids[n++] = tid_of_number(entry->tid);
			counter->next++;
		}
		return n;
	}
	while (n < max && counter->any_left && (n == 0 || counter->ahead_count == *count))
	{
		*count = counter->ahead_count;
		tids[n++] = tid_of_number(counter->ahead);
		read_ahead(counter);
	}
	return n;
}

void
hit_counter_free(HitCounter *counter)
{
	if (counter->found)
		tuplesort_end(counter->found);
	if (counter->sorted)
		tuplesort_end(counter->sorted);
	MemoryContextDelete(counter->context);
}
