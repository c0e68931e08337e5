/*-------------------------------------------------------------------------
 *
 * reported.c
 *		Which rows a scan has reported, where a row may be found more than once
 *
 * A row that has several words is found once for each that the scan looks for.  So the
 * rows that have been reported are kept in a set, as many as fit into work_mem.  Beyond
 * that, rows which are not in the set are deferred: they are sorted, and come out at the
 * end, each once.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "index/pair_sort.h"
#include "index/scan/reported.h"
#include "index/tree/page.h"

typedef struct ReportedRow
{
	uint64		tid;			/* tid_number */
	char		status;
} ReportedRow;

#define SH_PREFIX			rows
#define SH_ELEMENT_TYPE		ReportedRow
#define SH_KEY_TYPE			uint64
#define SH_KEY				tid
#define SH_HASH_KEY(tb, key) tid_number_hash(key)
#define SH_EQUAL(tb, a, b)	((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* What a row takes at worst: while the set grows there is a smaller one beside it. */
#define ROW_SIZE			(3 * sizeof(ReportedRow))

struct Reported
{
	MemoryContext context;
	rows_hash  *rows;
	uint64		max_rows;
	Tuplesortstate *deferred;	/* NULL: none have been */
	bool		sorted;
	uint64		last;			/* deferred row taken last */
};

/*
 * Begin with no rows.  Whoever keeps a pin on the leaf where a row was found, until the
 * row has been looked at, has no use for rows that come later, and says that none may be
 * deferred: then the set may outgrow work_mem.
 */
Reported *
reported_create(MemoryContext parent, bool may_defer)
{
	MemoryContext context = AllocSetContextCreate(parent, "simhash rows reported",
												  ALLOCSET_DEFAULT_SIZES);
	Reported   *reported = MemoryContextAllocZero(context, sizeof(Reported));

	reported->context = context;
	reported->rows = rows_create(context, 64, NULL);
	reported->max_rows = may_defer ? work_mem * UINT64CONST(1024) / ROW_SIZE : PG_UINT64_MAX;
	return reported;
}

/* What is sorted with a deferred row: one that is not to be reported comes first. */
#define EXCLUDED	0
#define WANTED		1

static void
defer(Reported *reported, uint64 tid, uint64 mark)
{
	if (reported->deferred == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(reported->context);

		reported->deferred = pair_sort_begin(work_mem);
		MemoryContextSwitchTo(old_context);
	}
	pair_sort_put(reported->deferred, tid, mark);
}

/*
 * These rows are not to be reported.  Called before the first rows are.
 */
void
reported_exclude(Reported *reported, const ItemPointerData *tids, int n)
{
	for (int i = 0; i < n; i++)
	{
		uint64		tid = tid_number(&tids[i]);
		bool		known;

		if (reported->rows->members < reported->max_rows)
			rows_insert(reported->rows, tid, &known);
		else if (rows_lookup(reported->rows, tid) == NULL)
			defer(reported, tid, EXCLUDED);
	}
}

/*
 * Of n rows keep those that are to be reported now.  Returns their number.
 */
int
reported_keep_new(Reported *reported, ItemPointerData *tids, int n)
{
	int			nkept = 0;

	for (int i = 0; i < n; i++)
	{
		uint64		tid = tid_number(&tids[i]);
		bool		known;

		if (reported->rows->members < reported->max_rows)
			rows_insert(reported->rows, tid, &known);
		else
		{
			known = rows_lookup(reported->rows, tid) != NULL;
			if (!known)
			{
				defer(reported, tid, WANTED);
				continue;
			}
		}
		if (!known)
			tids[nkept++] = tids[i];
	}
	return nkept;
}

/*
 * Take rows that were deferred, when everything has been read; 0: there are no more.
 */
int
reported_take_deferred(Reported *reported, ItemPointerData *tids, int max)
{
	uint64		tid;
	uint64		mark;
	int			n = 0;

	if (reported->deferred == NULL)
		return 0;
	if (!reported->sorted)
		tuplesort_performsort(reported->deferred);
	reported->sorted = true;
	while (n < max && pair_sort_get(reported->deferred, &tid, &mark))
	{
		CHECK_FOR_INTERRUPTS();
		if (tid == reported->last)
			continue;
		reported->last = tid;
		if (mark == WANTED)
			tids[n++] = tid_of_number(tid);
	}
	return n;
}

void
reported_free(Reported *reported)
{
	if (reported->deferred)
		tuplesort_end(reported->deferred);
	MemoryContextDelete(reported->context);
}
