/*-------------------------------------------------------------------------
 *
 * spool.c
 *		Rows collected for a build, given back sorted, table by table
 *
 * As long as they fit into half of the memory, the rows are one array, which is
 * sorted anew for each table, into the other half: a fraction of what a tuplesort
 * for each table takes.  Beyond that there are such sorts, in the other half, which
 * go to disk as they must.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/build/pair_sort.h"
#include "index/build/spool.h"

struct Spool
{
	const TableDesign *tables;
	int			ntables;
	MemoryContext context;
	int			memory;			/* kilobytes */
	int64		nrows;

	/* In memory: keys of `table`; those of the first one while collecting */
	Entry	   *entries;
	Entry	   *sorted;			/* where they are sorted into, or NULL */
	size_t		nentries;
	size_t		size;			/* entries allocated, in both */
	size_t		max_size;		/* beyond it, sorts */
	int			table;
	size_t		next;

	/* Otherwise: one for each table, or NULL */
	Tuplesortstate **sorts;
};

#define ST_SORT sort_entries
#define ST_ELEMENT_TYPE Entry
#define ST_COMPARE(a, b) entry_compare(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

#define INITIAL_SIZE	1024

/* Buckets that entries are sorted into before they are sorted; if so many. */
#define BUCKET_BITS		12
#define NBUCKETS		(1 << BUCKET_BITS)
#define MIN_BUCKETS_SIZE	(64 * NBUCKETS)

/* Entries handled between looks for interrupts; a power of two */
#define INTERRUPT_INTERVAL	65536

/*
 * A spool for tables, whose designs must live as long; memory is in kilobytes,
 * as maintenance_work_mem is.
 */
Spool *
spool_create(const TableDesign *tables, int ntables, int memory)
{
	Spool	   *spool = palloc0(sizeof(Spool));

	spool->tables = tables;
	spool->ntables = ntables;
	spool->context = CurrentMemoryContext;
	spool->memory = memory;
	spool->size = INITIAL_SIZE;
	spool->max_size = Max(INITIAL_SIZE, (size_t) memory * 1024 / 2 / sizeof(Entry));
	spool->entries = palloc(spool->size * sizeof(Entry));
	return spool;
}

/*
 * Empty a spool of one table, all of which has been read, for the rows of another
 * table.
 */
void
spool_reuse(Spool *spool, const TableDesign *table)
{
	Assert(spool->ntables == 1);
	spool->tables = table;
	spool->nrows = 0;
	spool->nentries = 0;
	if (spool->sorts)
	{
		pfree(spool->sorts);
		spool->sorts = NULL;
		spool->size = INITIAL_SIZE;
		spool->entries = MemoryContextAlloc(spool->context,
											spool->size * sizeof(Entry));
	}
}

static void
put_into_sorts(Spool *spool, SimHash fp, ItemPointer tid)
{
	for (int i = 0; i < spool->ntables; i++)
		pair_sort_put(spool->sorts[i], design_key(&spool->tables[i], fp),
					  tid_number(tid));
}

static void
free_arrays(Spool *spool)
{
	if (spool->entries)
		pfree(spool->entries);
	if (spool->sorted)
		pfree(spool->sorted);
	spool->entries = spool->sorted = NULL;
}

/*
 * The rows do not fit: go on with sorts, which share the other half.
 */
static void
switch_to_sorts(Spool *spool)
{
	spool->sorts = palloc(spool->ntables * sizeof(Tuplesortstate *));
	for (int i = 0; i < spool->ntables; i++)
		spool->sorts[i] = pair_sort_begin(Max(64, spool->memory / 2 / spool->ntables));
	for (size_t i = 0; i < spool->nentries; i++)
	{
		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		put_into_sorts(spool,
					   design_fingerprint(&spool->tables[0], spool->entries[i].key),
					   &spool->entries[i].tid);
	}
	free_arrays(spool);
}

/*
 * Make room for another row, in memory or in sorts.
 */
static void
make_room(Spool *spool)
{
	MemoryContext old_context = MemoryContextSwitchTo(spool->context);

	if (spool->size == spool->max_size)
		switch_to_sorts(spool);
	else
	{
		spool->size = Min(2 * spool->size, spool->max_size);
		spool->entries = repalloc_huge(spool->entries, spool->size * sizeof(Entry));
		if (spool->sorted)
			pfree(spool->sorted);
		spool->sorted = NULL;
	}
	MemoryContextSwitchTo(old_context);
}

/*
 * Add a row.  To be called before the first spool_sort.
 */
void
spool_add(Spool *spool, SimHash fp, ItemPointer tid)
{
	if (spool->sorts == NULL && spool->nentries == spool->size)
		make_room(spool);
	if (spool->sorts)
		put_into_sorts(spool, fp, tid);
	else
	{
		Entry	   *entry = &spool->entries[spool->nentries++];

		entry->key = design_key(&spool->tables[0], fp);
		entry->tid = *tid;
	}
	spool->nrows++;
}

/*
 * How many rows have been added.
 */
int64
spool_count(const Spool *spool)
{
	return spool->nrows;
}

/*
 * Turn the keys of one table into those of another.
 */
static void
change_table(Spool *spool, int table)
{
	const TableDesign *from = &spool->tables[spool->table];
	const TableDesign *to = &spool->tables[table];

	for (size_t i = 0; i < spool->nentries; i++)
	{
		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		spool->entries[i].key = design_key(to, design_fingerprint(from, spool->entries[i].key));
	}
	spool->table = table;
}

/*
 * Where each bucket begins.
 */
static void
count_buckets(const Spool *spool, size_t *begin)
{
	size_t		sum = 0;

	memset(begin, 0, NBUCKETS * sizeof(size_t));
	for (size_t i = 0; i < spool->nentries; i++)
		begin[spool->entries[i].key >> (SIMHASH_BITS - BUCKET_BITS)]++;
	for (int i = 0; i < NBUCKETS; i++)
	{
		size_t		n = begin[i];

		begin[i] = sum;
		sum += n;
	}
}

/*
 * Sort many entries: into buckets by their highest bits, which are spread well, and
 * then each bucket, which fits into the processor's cache.
 */
static void
sort_by_buckets(Spool *spool)
{
	size_t		next[NBUCKETS];
	size_t		begin = 0;
	Entry	   *swap = spool->entries;

	if (spool->sorted == NULL)
		spool->sorted = MemoryContextAllocHuge(spool->context,
											   spool->size * sizeof(Entry));
	count_buckets(spool, next);
	for (size_t i = 0; i < spool->nentries; i++)
	{
		const Entry *entry = &spool->entries[i];

		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		spool->sorted[next[entry->key >> (SIMHASH_BITS - BUCKET_BITS)]++] = *entry;
	}
	/* now they have come to where the next ones begin */
	for (int i = 0; i < NBUCKETS; i++)
	{
		sort_entries(spool->sorted + begin, next[i] - begin);
		begin = next[i];
	}
	spool->entries = spool->sorted;
	spool->sorted = swap;
}

/*
 * Sort the rows for a table; spool_next gives its entries from the first on.
 */
void
spool_sort(Spool *spool, int table)
{
	if (spool->sorts)
		tuplesort_performsort(spool->sorts[table]);
	else
	{
		if (table != spool->table)
			change_table(spool, table);
		if (spool->nentries >= MIN_BUCKETS_SIZE)
			sort_by_buckets(spool);
		else
			sort_entries(spool->entries, spool->nentries);
	}
	spool->table = table;
	spool->next = 0;
}

/*
 * The next entry of the table sorted last.  Returns false after the last one.
 */
bool
spool_next(Spool *spool, Entry *entry)
{
	uint64		tid;

	if (spool->sorts == NULL)
	{
		if (spool->next == spool->nentries)
			return false;
		*entry = spool->entries[spool->next++];
		return true;
	}
	if (!pair_sort_get(spool->sorts[spool->table], &entry->key, &tid))
	{
		tuplesort_end(spool->sorts[spool->table]);
		return false;
	}
	entry->tid = tid_of_number(tid);
	return true;
}

/*
 * Every table has been read to its end.
 */
void
spool_free(Spool *spool)
{
	if (spool->sorts)
		pfree(spool->sorts);
	free_arrays(spool);
	pfree(spool);
}
