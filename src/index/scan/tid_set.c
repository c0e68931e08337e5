/*-------------------------------------------------------------------------
 *
 * tid_set.c
 *		Set of the TIDs that a scan has returned, so that it returns each TID once
 *
 * A scan for several keys finds the TID of a row once for each of these keys that the row
 * contains.  It must return the TID once.  So the scan keeps a set of the TIDs that it has
 * returned.
 *
 * If the set reaches work_mem, the scan defers TIDs that are not in the set.  It sorts the
 * deferred TIDs, using at most another work_mem of memory, and returns each of them once at
 * the end.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/pair_sort.h"
#include "index/scan/tid_set.h"
#include "index/tree/page.h"

/* An element of the hash table. */
typedef struct SeenTid
{
	uint64		tid;			/* tid_number */
	char		status;			/* for simplehash */
} SeenTid;

#define SH_PREFIX			seen
#define SH_ELEMENT_TYPE		SeenTid
#define SH_KEY_TYPE			uint64
#define SH_KEY				tid
#define SH_HASH_KEY(tb, key) tid_number_hash(key)
#define SH_EQUAL(tb, a, b)	((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * Estimate of the memory that a TID needs at worst, in bytes.  While the hash table
 * grows, the old table of half its size still exists.
 */
#define SEEN_SIZE			(3 * sizeof(SeenTid))

struct TidSet
{
	MemoryContext context;
	seen_hash  *tids;			/* TIDs returned or excluded */
	uint64		max_tids;		/* number of TIDs that fit into work_mem */
	Tuplesortstate *deferred;	/* sort of pairs of a TID and its category,
								 * EXCLUDED or DEFERRED.  NULL if there is none. */
	bool		sorted;			/* true after tuplesort_performsort */
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
	set->tids = seen_create(context, 64, NULL);
	set->max_tids = may_defer ? work_mem * UINT64CONST(1024) / SEEN_SIZE : PG_UINT64_MAX;
	return set;
}

/*
 * Categories of TIDs in the sort of deferred TIDs.  If a TID has both categories,
 * EXCLUDED sorts first, and tid_set_fetch_deferred() skips the TID.
 */
#define EXCLUDED	0
#define DEFERRED	1

/*
 * Add a TID with a category to the sort of deferred TIDs.  May write to disk.
 */
static void
defer_tid(TidSet *set, uint64 tid, uint64 category)
{
	if (set->deferred == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(set->context);

		set->deferred = pair_sort_begin(work_mem);
		MemoryContextSwitchTo(old_context);
	}
	pair_sort_put(set->deferred, tid, category);
}

/*
 * Exclude n TIDs, so that the scan does not return them.  Must be called before the first
 * tid_set_keep_new().  May write to disk.
 */
void
tid_set_exclude(TidSet *set, const ItemPointerData *tids, int n)
{
	for (int i = 0; i < n; i++)
	{
		uint64		tid = tid_number(&tids[i]);
		bool		known;

		if (set->tids->members < set->max_tids)
			seen_insert(set->tids, tid, &known);
		else if (seen_lookup(set->tids, tid) == NULL)
			defer_tid(set, tid, EXCLUDED);
	}
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
	{
		uint64		tid = tid_number(&tids[i]);
		bool		known;

		if (set->tids->members < set->max_tids)
			seen_insert(set->tids, tid, &known);
		else
		{
			known = seen_lookup(set->tids, tid) != NULL;
			if (!known)
			{
				defer_tid(set, tid, DEFERRED);
				continue;
			}
		}
		if (!known)
			tids[nkept++] = tids[i];
	}
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
	if (!set->sorted)
		tuplesort_performsort(set->deferred);
	set->sorted = true;
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
	if (set->deferred)
		tuplesort_end(set->deferred);
	MemoryContextDelete(set->context);
}
