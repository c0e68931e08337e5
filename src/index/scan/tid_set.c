/*
 * Set of the TIDs that a scan has returned, so that it returns each TID once
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
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "index/pair_sort.h"
#include "index/scan/scans.h"
#include "index/scan/tid_hash.h"

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
