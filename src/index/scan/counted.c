/*-------------------------------------------------------------------------
 *
 * counted.c
 *		How many times rows were found, those found most often first
 *
 * Rows are counted in a table within work_mem.  What does not fit is sorted: each time
 * that a row was found, by row; then the rows, by how often that was.
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
#include "index/scan/counted.h"
#include "index/tree/page.h"

#define SH_PREFIX			counts
#define SH_ELEMENT_TYPE		CountedRow
#define SH_KEY_TYPE			uint64
#define SH_KEY				tid
#define SH_HASH_KEY(tb, key) tid_number_hash(key)
#define SH_EQUAL(tb, a, b)	((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* A row of the table, among those that are ranked. */
typedef CountedRow *RankedRow;

/* What a row takes at worst: while the table grows there is a smaller one beside it. */
#define ROW_SIZE			(3 * sizeof(CountedRow) + sizeof(CountedRow *))

struct Counted
{
	MemoryContext context;
	counts_hash *rows;			/* NULL: they are sorted */
	uint64		max_rows;
	CountedRow **ranked;		/* by how often they were found */
	int64		nranked;
	int64		next;
	Tuplesortstate *found;		/* rows and numbers of times, by row */
	Tuplesortstate *sorted;		/* the same of each row, the most often first */
	uint64		ahead;			/* the next row of that, if any is left */
	uint32		ahead_count;
	bool		any_left;
};

/*
 * The rows found most often first; among these by place.
 */
static inline int
compare_rows(const CountedRow *a, const CountedRow *b)
{
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

#define ST_SORT sort_by_count
#define ST_ELEMENT_TYPE RankedRow
#define ST_COMPARE(a, b) compare_rows(*(a), *(b))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

#define ST_SORT sort_by_place
#define ST_ELEMENT_TYPE RankedRow
#define ST_COMPARE(a, b) (((*(a))->tid > (*(b))->tid) - ((*(a))->tid < (*(b))->tid))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Begin with no rows.
 */
Counted *
counted_create(MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "simhash rows counted",
												  ALLOCSET_DEFAULT_SIZES);
	Counted    *counted = MemoryContextAllocZero(context, sizeof(Counted));

	counted->context = context;
	counted->rows = counts_create(context, 64, NULL);
	counted->max_rows = work_mem * UINT64CONST(1024) / ROW_SIZE;
	return counted;
}

static Tuplesortstate *
begin_sort(Counted *counted)
{
	MemoryContext old_context = MemoryContextSwitchTo(counted->context);
	Tuplesortstate *sort = pair_sort_begin(work_mem);

	MemoryContextSwitchTo(old_context);
	return sort;
}

/*
 * There are too many rows: from now on they are sorted.
 */
static void
begin_to_sort(Counted *counted)
{
	counts_iterator i;
	CountedRow *row;

	counted->found = begin_sort(counted);
	counts_start_iterate(counted->rows, &i);
	while ((row = counts_iterate(counted->rows, &i)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		pair_sort_put(counted->found, row->tid, row->count);
	}
	counts_destroy(counted->rows);
	counted->rows = NULL;
}

/*
 * Rows were found, once each.
 */
void
counted_add(Counted *counted, const ItemPointerData *tids, int n)
{
	for (int i = 0; i < n; i++)
	{
		uint64		tid = tid_number(&tids[i]);
		CountedRow *row;
		bool		known;

		if (counted->rows && counted->rows->members >= counted->max_rows)
			begin_to_sort(counted);
		if (counted->rows == NULL)
		{
			pair_sort_put(counted->found, tid, 1);
			continue;
		}
		row = counts_insert(counted->rows, tid, &known);
		row->count = known ? row->count + 1 : 1;
	}
}

/*
 * How many rows there are, if they fit into memory; otherwise -1.
 */
int64
counted_in_memory(const Counted *counted)
{
	return counted->rows ? (int64) counted->rows->members : -1;
}

/*
 * How many times a row was found, of those that fit into memory.
 */
uint32
counted_look_up(const Counted *counted, uint64 tid)
{
	CountedRow *row = counts_lookup(counted->rows, tid);

	return row ? row->count : 0;
}

/*
 * Put the rows that fit into memory into an array, in no order.
 */
static void
collect_rows(Counted *counted)
{
	counts_iterator i;
	CountedRow *row;

	counted->ranked = MemoryContextAllocHuge(counted->context,
											 Max(counted->rows->members, 1) * sizeof(CountedRow *));
	counted->nranked = 0;
	counts_start_iterate(counted->rows, &i);
	while ((row = counts_iterate(counted->rows, &i)) != NULL)
		counted->ranked[counted->nranked++] = row;
}

/*
 * The rows that fit into memory, by place; for whoever has to correct their counts before
 * they are ranked.
 */
CountedRow **
counted_by_place(Counted *counted)
{
	collect_rows(counted);
	sort_by_place(counted->ranked, counted->nranked);
	return counted->ranked;
}

/*
 * Read the next row of those that were sorted.
 */
static void
read_ahead(Counted *counted)
{
	uint64		first = 0;

	counted->any_left = pair_sort_get(counted->sorted, &first, &counted->ahead);
	counted->ahead_count = PG_UINT32_MAX - first;
}

/*
 * Add up how often each row was found, and sort the rows by that.
 */
static void
rank_sorted(Counted *counted)
{
	uint64		row = 0;
	uint64		count = 0;
	uint64		tid;
	uint64		n;

	tuplesort_performsort(counted->found);
	counted->sorted = begin_sort(counted);
	while (pair_sort_get(counted->found, &tid, &n))
	{
		CHECK_FOR_INTERRUPTS();
		if (tid != row && count > 0)
			pair_sort_put(counted->sorted, PG_UINT32_MAX - count, row);
		count = tid == row ? count + n : n;
		row = tid;
	}
	if (count > 0)
		pair_sort_put(counted->sorted, PG_UINT32_MAX - count, row);
	tuplesort_end(counted->found);
	counted->found = NULL;
	tuplesort_performsort(counted->sorted);
	read_ahead(counted);
}

/*
 * All rows have been found: rank them.
 */
void
counted_rank(Counted *counted)
{
	if (counted->rows == NULL)
		rank_sorted(counted);
	else
	{
		if (counted->ranked == NULL)
			collect_rows(counted);
		sort_by_count(counted->ranked, counted->nranked);
	}
}

/*
 * Take rows that were found equally often, *count times, of those ranked next.  Returns
 * their number: none, if there are no more.
 */
int
counted_take(Counted *counted, ItemPointerData *tids, int max, uint32 *count)
{
	int			n = 0;

	if (counted->rows)
	{
		while (n < max && counted->next < counted->nranked)
		{
			const CountedRow *row = counted->ranked[counted->next];

			if (n > 0 && row->count != *count)
				break;
			*count = row->count;
			tids[n++] = tid_of_number(row->tid);
			counted->next++;
		}
		return n;
	}
	while (n < max && counted->any_left && (n == 0 || counted->ahead_count == *count))
	{
		*count = counted->ahead_count;
		tids[n++] = tid_of_number(counted->ahead);
		read_ahead(counted);
	}
	return n;
}

void
counted_free(Counted *counted)
{
	if (counted->found)
		tuplesort_end(counted->found);
	if (counted->sorted)
		tuplesort_end(counted->sorted);
	MemoryContextDelete(counted->context);
}
