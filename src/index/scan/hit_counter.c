/*-------------------------------------------------------------------------
 *
 * hit_counter.c
 *		Count the hits of each TID, and rank the TIDs by number of hits
 *
 * The counter counts hits in a hash table of at most work_mem.  If the TIDs do not fit, the
 * counter sorts twice: first all hits by TID, then the TIDs by their number of hits.
 *
 * The counter follows ScanCount, of Li, Lu and Lu, "Efficient merging and filtering
 * algorithms for approximate string searches", 2008.  ScanCount has an array of counts in
 * place of the hash table.
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

/*
 * A pointer to an element of the hash table.  The TIDs are ranked by sorting such
 * pointers.
 */
typedef TidCount *RankedTid;

/*
 * Estimate of the memory that a TID needs at worst, in bytes.  While the hash table
 * grows, the old table of half its size still exists.
 */
#define COUNT_SIZE			(3 * sizeof(TidCount) + sizeof(TidCount *))

struct HitCounter
{
	MemoryContext context;

	/* In memory: a hash table by TID, and an array that ranks its elements. */
	counts_hash *counts;		/* NULL if the TIDs are sorted instead */
	uint64		max_counts;		/* number of TIDs that fit into work_mem */
	TidCount  **ranked;			/* pointers to all elements of counts.  NULL
								 * before the first hit_counter_by_tid() or
								 * hit_counter_rank(). */
	int64		nranked;
	int64		next;			/* index in ranked of the next TID to fetch */

	/* On disk: two sorts, one after the other. */
	Tuplesortstate *hits;		/* sorts TIDs with numbers of hits, by TID.  A
								 * TID may occur several times. */
	Tuplesortstate *ranking;	/* sorts the TIDs, each once, by descending
								 * number of hits */
	uint64		next_tid;		/* next TID of ranking, as tid_number */
	uint32		next_count;		/* number of hits of next_tid */
	bool		has_next;		/* true if next_tid is valid */
};

/*
 * Compare two TIDs by descending number of hits, then by ascending TID.
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
 * Create a counter in its own memory context, a child of `parent`.  The counter contains
 * no TID.
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

/*
 * Begin a sort that uses at most work_mem of memory.
 */
static Tuplesortstate *
counter_begin_sort(HitCounter *counter)
{
	MemoryContext old_context = MemoryContextSwitchTo(counter->context);
	Tuplesortstate *sort = pair_sort_begin(work_mem);

	MemoryContextSwitchTo(old_context);
	return sort;
}

/*
 * Begin to sort hits, because the hash table has reached work_mem.  Moves the counts from
 * the hash table to the sort, and frees the hash table.
 */
static void
switch_to_sort(HitCounter *counter)
{
	counts_iterator i;
	TidCount   *entry;

	counter->hits = counter_begin_sort(counter);
	counts_start_iterate(counter->counts, &i);
	while ((entry = counts_iterate(counter->counts, &i)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		pair_sort_put(counter->hits, entry->tid, entry->count);
	}
	counts_destroy(counter->counts);
	counter->counts = NULL;
}

/*
 * Count one hit for each of n TIDs.  May write to disk.
 */
void
hit_counter_add(HitCounter *counter, const ItemPointerData *tids, int n)
{
	for (int i = 0; i < n; i++)
	{
		uint64		tid = tid_number(&tids[i]);
		TidCount   *entry;
		bool		known;

		if (counter->counts && counter->counts->members >= counter->max_counts)
			switch_to_sort(counter);
		if (counter->counts == NULL)
		{
			pair_sort_put(counter->hits, tid, 1);
			continue;
		}
		entry = counts_insert(counter->counts, tid, &known);
		entry->count = known ? entry->count + 1 : 1;
	}
}

/*
 * Return the number of TIDs in the counter if all of them fit into memory, else -1.
 */
int64
hit_counter_in_memory(const HitCounter *counter)
{
	return counter->counts ? (int64) counter->counts->members : -1;
}

/*
 * Return the number of hits of a TID, which is a tid_number().  Returns 0 if the counter
 * does not contain the TID.  The TIDs must be in memory (hit_counter_in_memory).
 */
uint32
hit_counter_look_up(const HitCounter *counter, uint64 tid)
{
	TidCount   *entry = counts_lookup(counter->counts, tid);

	return entry ? entry->count : 0;
}

/*
 * Fill the array `ranked`, in no particular order.  The TIDs must be in memory.
 */
static void
collect_counts(HitCounter *counter)
{
	counts_iterator i;
	TidCount   *entry;

	counter->ranked = MemoryContextAllocHuge(counter->context,
											 Max(counter->counts->members, 1) * sizeof(TidCount *));
	counter->nranked = 0;
	counts_start_iterate(counter->counts, &i);
	while ((entry = counts_iterate(counter->counts, &i)) != NULL)
		counter->ranked[counter->nranked++] = entry;
}

/*
 * Return an array of the TIDs with their counts, in ascending order of TIDs.  The length
 * of the array is hit_counter_in_memory().  The TIDs must be in memory.  The caller may
 * change the counts until it calls hit_counter_rank(), but must not add TIDs.  The
 * counter owns the array.
 */
TidCount **
hit_counter_by_tid(HitCounter *counter)
{
	collect_counts(counter);
	sort_by_tid(counter->ranked, counter->nranked);
	return counter->ranked;
}

/*
 * Read the next TID of the ranking.  Sets has_next to false if there is none.
 */
static void
read_next_ranked(HitCounter *counter)
{
	uint64		first = 0;

	counter->has_next = pair_sort_get(counter->ranking, &first, &counter->next_tid);
	counter->next_count = PG_UINT32_MAX - first;
}

/*
 * Add up the hits of each TID, which the first sort returns in TID order, and sort the
 * TIDs by number of hits.  The sort key is PG_UINT32_MAX minus the number of hits, so
 * that the TIDs with the most hits come first.
 */
static void
rank_sorted(HitCounter *counter)
{
	uint64		last = 0;
	uint64		count = 0;
	uint64		tid;
	uint64		n;

	tuplesort_performsort(counter->hits);
	counter->ranking = counter_begin_sort(counter);
	while (pair_sort_get(counter->hits, &tid, &n))
	{
		CHECK_FOR_INTERRUPTS();
		if (tid != last && count > 0)
			pair_sort_put(counter->ranking, PG_UINT32_MAX - count, last);
		count = tid == last ? count + n : n;
		last = tid;
	}
	if (count > 0)
		pair_sort_put(counter->ranking, PG_UINT32_MAX - count, last);
	tuplesort_end(counter->hits);
	counter->hits = NULL;
	tuplesort_performsort(counter->ranking);
	read_next_ranked(counter);
}

/*
 * Rank the TIDs by descending number of hits.  The caller must not add hits after this.
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
 * Fetch at most max of the next ranked TIDs.  All TIDs of a call have the same number of
 * hits, and *count is set to this number.  Returns the number of TIDs fetched, or 0 after
 * the last TID.
 */
int
hit_counter_fetch(HitCounter *counter, ItemPointerData *tids, int max, uint32 *count)
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
	while (n < max && counter->has_next && (n == 0 || counter->next_count == *count))
	{
		*count = counter->next_count;
		tids[n++] = tid_of_number(counter->next_tid);
		read_next_ranked(counter);
	}
	return n;
}

/*
 * Free the counter and its sorts.
 */
void
hit_counter_free(HitCounter *counter)
{
	if (counter->hits)
		tuplesort_end(counter->hits);
	if (counter->ranking)
		tuplesort_end(counter->ranking);
	MemoryContextDelete(counter->context);
}
