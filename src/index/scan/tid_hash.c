/*
 * Hash tables of TIDs within work_mem: the TIDs that a scan has returned, and hits of TIDs
 *
 * A scan for several keys finds the TID of a row once for each of these keys that the row
 * contains.  It must return the TID once.  So the scan keeps a set of the TIDs that it has
 * returned.  A merge with T = 1 (postings.c) would need no set.  But it takes 1.25 times as
 * long, and ten times as long until the first row, because it opens a cursor for each key.
 *
 * If the set reaches work_mem, the scan defers TIDs that are not in the set.  It sorts the
 * deferred TIDs, using at most another work_mem of memory, and returns each of them once at
 * the end.
 *
 * A counter counts the hits of each TID, and ranks the TIDs by number of hits.  If the TIDs do
 * not fit, it sorts twice: first all hits by TID, then the TIDs by their number of hits.  It
 * follows ScanCount, of Li, Lu and Lu, "Efficient merging and filtering algorithms for
 * approximate string searches", 2008.  ScanCount has an array of counts in place of the hash
 * table.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "index/pair_sort.h"
#include "index/scan/scans.h"

#define SH_PREFIX			tids
#define SH_ELEMENT_TYPE		TidCount
#define SH_KEY_TYPE			uint64
#define SH_KEY				tid
#define SH_HASH_KEY(tb, key) hash_combine(murmurhash32((uint32) (key)), murmurhash32((key) >> 32))
#define SH_EQUAL(tb, a, b)	((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * Return the number of TIDs that fit into work_mem if each needs `extra` more bytes.  While
 * the hash table grows, the old table of half its size still exists.
 */
static uint64
tid_hash_max(Size extra)
{
	return work_mem * UINT64CONST(1024) / (3 * sizeof(TidCount) + extra);
}

/* --- the set ----------------------------------------------------------------------- */

struct TidSet
{
	MemoryContext context;
	tids_hash  *tids;			/* TIDs returned or excluded */
	uint64		max_tids;		/* number of TIDs that fit into work_mem */
	PairSort   *deferred;		/* sort of pairs of a TID and its category,
								 * EXCLUDED or DEFERRED.  NULL if there is none. */
	uint64		last;			/* last TID read from deferred, a tid_number() */
};

/*
 * Create an empty set in its own memory context, a child of `parent`.
 *
 * may_defer must be false if the caller keeps a leaf pinned until its heap tuples have
 * been checked.  Such a caller cannot use deferred TIDs, because their leaves are no
 * longer pinned.  If may_defer is false, the set may outgrow work_mem.
 */
TidSet *
tid_set_create(MemoryContext parent, bool may_defer)
{
	MemoryContext context = AllocSetContextCreate(parent, "simhash TID set",
												  ALLOCSET_DEFAULT_SIZES);
	TidSet	   *set = MemoryContextAllocZero(context, sizeof(TidSet));

	set->context = context;
	set->tids = tids_create(context, 64, NULL);
	set->max_tids = may_defer ? tid_hash_max(0) : PG_UINT64_MAX;
	return set;
}

/*
 * Categories of TIDs in the sort of deferred TIDs.  If a TID has both categories,
 * EXCLUDED sorts first, and tid_set_fetch_deferred() skips the TID.
 */
#define EXCLUDED	0
#define DEFERRED	1

/*
 * Add a TID to the set, and return true if it was not in the set.  If the set is full,
 * adds a TID that is not in the set to the sort instead, with this category, and returns
 * false.  May write to disk.
 */
static bool
add_tid(TidSet *set, const ItemPointerData *tid, uint64 category)
{
	uint64		number = tid_number(tid);
	bool		known;

	if (set->tids->members < set->max_tids)
	{
		tids_insert(set->tids, number, &known);
		return !known;
	}
	if (tids_lookup(set->tids, number) == NULL)
	{
		if (set->deferred == NULL)
			set->deferred = pair_sort_begin(set->context, work_mem);
		pair_sort_put(set->deferred, number, category);
	}
	return false;
}

/*
 * Exclude n TIDs, so that the scan does not return them.  Must be called before the first
 * tid_set_keep_new().  May write to disk.
 */
void
tid_set_exclude(TidSet *set, const ItemPointerData *tids, int n)
{
	for (int i = 0; i < n; i++)
		add_tid(set, &tids[i], EXCLUDED);
}

/*
 * Move the TIDs that the scan must return now to the start of the array of n TIDs, and
 * return their number.  Skips TIDs that the set contains already, and TIDs that it
 * defers.  May write to disk.
 */
int
tid_set_keep_new(TidSet *set, ItemPointerData *tids, int n)
{
	int			nkept = 0;

	for (int i = 0; i < n; i++)
		if (add_tid(set, &tids[i], DEFERRED))
			tids[nkept++] = tids[i];
	return nkept;
}

/*
 * Fetch at most max deferred TIDs.  Must be called after the last tid_set_keep_new().
 * Returns the number of TIDs fetched, or 0 after the last TID.
 */
int
tid_set_fetch_deferred(TidSet *set, ItemPointerData *tids, int max)
{
	uint64		tid;
	uint64		category;
	int			n = 0;

	if (set->deferred == NULL)
		return 0;
	while (n < max && pair_sort_get(set->deferred, &tid, &category))
	{
		CHECK_FOR_INTERRUPTS();
		if (tid == set->last)
			continue;
		set->last = tid;
		if (category == DEFERRED)
			tids[n++] = tid_of_number(tid);
	}
	return n;
}

/*
 * Free the set and its sort.
 */
void
tid_set_free(TidSet *set)
{
	pair_sort_end(set->deferred);
	MemoryContextDelete(set->context);
}

/* --- the counter ------------------------------------------------------------------- */

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

/* A pointer to an element of the hash table.  The TIDs are ranked by sorting pointers. */
typedef TidCount *RankedTid;

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
