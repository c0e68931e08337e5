/*
 * Count the hits of each TID, and rank the TIDs by number of hits
 *
 * The counter counts hits in a hash table of at most work_mem.  If the TIDs do not fit, the
 * counter sorts twice: first all hits by TID, then the TIDs by their number of hits.
 *
 * The counter follows ScanCount, of Li, Lu and Lu, "Efficient merging and filtering
 * algorithms for approximate string searches", 2008.  ScanCount has an array of counts in
 * place of the hash table.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "index/pair_sort.h"
#include "index/scan/scans.h"
#include "index/scan/tid_hash.h"

/*
 * A pointer to an element of the hash table.  The TIDs are ranked by sorting such
 * pointers.
 */
typedef TidCount *RankedTid;

struct HitCounter
{
	MemoryContext context;

	/* In memory: a hash table by TID, and an array that ranks its elements. */
	tids_hash  *counts;			/* NULL if the TIDs are sorted instead */
	uint64		max_counts;		/* number of TIDs that fit into work_mem */
	TidCount  **ranked;			/* pointers to all elements of counts.  NULL
								 * before the first hit_counter_by_tid() or
								 * hit_counter_rank(). */
	int64		nranked;
	int64		next;			/* index in ranked of the next TID to fetch */

	/* If the TIDs do not fit into work_mem: two sorts, one after the other. */
	PairSort   *hits;			/* sorts TIDs with numbers of hits, by TID.  A
								 * TID may occur several times. */
	PairSort   *ranking;		/* sorts the TIDs, each once, by descending
								 * number of hits.  The sort key is
								 * PG_UINT32_MAX minus the number of hits. */
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
	counter->counts = tids_create(context, 64, NULL);
	counter->max_counts = tid_hash_max(sizeof(TidCount *));
	return counter;
}

/*
 * Begin to sort hits, because the hash table has reached work_mem.  Moves the counts from
 * the hash table to the sort, and frees the hash table.
 */
static void
switch_to_sort(HitCounter *counter)
{
	tids_iterator i;
	TidCount   *tid;

	counter->hits = pair_sort_begin(counter->context, work_mem);
	tids_start_iterate(counter->counts, &i);
	while ((tid = tids_iterate(counter->counts, &i)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		pair_sort_put(counter->hits, tid->tid, tid->count);
	}
	tids_destroy(counter->counts);
	counter->counts = NULL;
}

/*
 * Count hits of n TIDs: hits[i] of the i-th, or one of each if `hits` is NULL.  May write to
 * disk.
 */
void
hit_counter_add(HitCounter *counter, const ItemPointerData *tids, const int *hits, int n)
{
	for (int i = 0; i < n; i++)
	{
		uint64		tid = tid_number(&tids[i]);
		int			count = hits ? hits[i] : 1;
		TidCount   *found;
		bool		known;

		if (counter->counts && counter->counts->members >= counter->max_counts)
			switch_to_sort(counter);
		if (counter->counts == NULL)
		{
			pair_sort_put(counter->hits, tid, count);
			continue;
		}
		found = tids_insert(counter->counts, tid, &known);
		found->count = known ? found->count + count : count;
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
	TidCount   *found = tids_lookup(counter->counts, tid);

	return found ? found->count : 0;
}

/*
 * Fill the array `ranked`, in no particular order.  The TIDs must be in memory.
 */
static void
collect_counts(HitCounter *counter)
{
	tids_iterator i;
	TidCount   *tid;

	counter->ranked = MemoryContextAllocHuge(counter->context,
											 Max(counter->counts->members, 1) * sizeof(TidCount *));
	counter->nranked = 0;
	tids_start_iterate(counter->counts, &i);
	while ((tid = tids_iterate(counter->counts, &i)) != NULL)
		counter->ranked[counter->nranked++] = tid;
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
 * Add up the hits of each TID, which the first sort returns in TID order, and sort the
 * TIDs by descending number of hits.
 */
static void
rank_sorted(HitCounter *counter)
{
	uint64		last = 0;
	uint64		count = 0;
	uint64		tid;
	uint64		n;

	counter->ranking = pair_sort_begin(counter->context, work_mem);
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
	pair_sort_end(counter->hits);
	counter->hits = NULL;
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
 * Set *next to the next ranked TID and its count.  Returns false after the last TID.
 */
static inline bool
peek_ranked(HitCounter *counter, TidCount *next)
{
	if (counter->counts)
	{
		if (counter->next == counter->nranked)
			return false;
		*next = *counter->ranked[counter->next];
		return true;
	}
	if (!pair_sort_peek(counter->ranking))
		return false;
	next->count = PG_UINT32_MAX - counter->ranking->first;
	next->tid = counter->ranking->second;
	return true;
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
	TidCount	next;

	while (n < max && peek_ranked(counter, &next) && (n == 0 || next.count == *count))
	{
		*count = next.count;
		tids[n++] = tid_of_number(next.tid);
		if (counter->counts)
			counter->next++;
		else
			pair_sort_advance(counter->ranking);
	}
	return n;
}

/*
 * Free the counter and its sorts.
 */
void
hit_counter_free(HitCounter *counter)
{
	pair_sort_end(counter->hits);
	pair_sort_end(counter->ranking);
	MemoryContextDelete(counter->context);
}
