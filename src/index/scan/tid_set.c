/*-------------------------------------------------------------------------
 *
 * tid_set.c
 *		The TIDs that a scan has returned, where it may find a TID more than once
 *
 * A TID is found once for each key of the scan that its row has.  So the TIDs that have
 * been returned are kept in a set, as many as fit into work_mem.  Beyond that, TIDs which
 * are not in the set are deferred: they are sorted, and returned at the end, each once.
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

typedef struct SeenTid
{
	uint64		tid;			/* tid_number */
	char		status;
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

/* Bytes of a TID at worst: while the set grows there is a smaller one beside it. */
#define SEEN_SIZE			(3 * sizeof(SeenTid))

struct TidSet
{
	MemoryContext context;
	seen_hash  *tids;
	uint64		max_tids;
	Tuplesortstate *deferred;	/* NULL: none have been */
	bool		sorted;
	uint64		last;			/* deferred TID taken last */
};

/*
 * Create an empty set.  A caller that keeps the leaf of a TID pinned until the heap tuple
 * has been checked cannot use TIDs that come later.  It passes may_defer = false.  Then the
 * set may outgrow work_mem.
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

/* What is sorted with a deferred TID: an excluded one sorts first. */
#define EXCLUDED	0
#define WANTED		1

static void
defer_tid(TidSet *set, uint64 tid, uint64 mark)
{
	if (set->deferred == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(set->context);

		set->deferred = pair_sort_begin(work_mem);
		MemoryContextSwitchTo(old_context);
	}
	pair_sort_put(set->deferred, tid, mark);
}

/*
 * Exclude TIDs, which then are never returned.  Call this before the first
 * tid_set_keep_new.
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
 * Keep those of n TIDs that are to be returned now.  Returns their number.
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
				defer_tid(set, tid, WANTED);
				continue;
			}
		}
		if (!known)
			tids[nkept++] = tids[i];
	}
	return nkept;
}

/*
 * Take at most max of the deferred TIDs, when everything has been read.  Returns their
 * number, 0 if there are no more.
 */
int
tid_set_take_deferred(TidSet *set, ItemPointerData *tids, int max)
{
	uint64		tid;
	uint64		mark;
	int			n = 0;

	if (set->deferred == NULL)
		return 0;
	if (!set->sorted)
		tuplesort_performsort(set->deferred);
	set->sorted = true;
	while (n < max && pair_sort_get(set->deferred, &tid, &mark))
	{
		CHECK_FOR_INTERRUPTS();
		if (tid == set->last)
			continue;
		set->last = tid;
		if (mark == WANTED)
			tids[n++] = tid_of_number(tid);
	}
	return n;
}

void
tid_set_free(TidSet *set)
{
	if (set->deferred)
		tuplesort_end(set->deferred);
	MemoryContextDelete(set->context);
}
