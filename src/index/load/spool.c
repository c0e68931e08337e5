/*
 * Collecting the rows of a build, and sorting them for each permuted table
 *
 * While the rows fit into memory, they are one array.  For each permuted table, the array
 * is sorted again.  This takes a fraction of the time of a tuplesort for each table.  If
 * the rows do not fit, they are in a file.  Then the entries of a table are divided into
 * chunks, which are ranges of entries.  One chunk after the other is read into memory and
 * sorted there.  (A partition is what a participant of a parallel build reads into its spool
 * at a time: build_worker.c.)
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/load/load.h"

struct Spool
{
	MemoryContext context;
	int			memory;			/* maximum memory, in kilobytes */
	int64		nrows;
	const PermutedTable *table;	/* permuted table of the entries' keys.  NULL if
								 * the keys are not permuted. */

	/* Entries in memory.  These are all entries, or those of the current chunk. */
	Entry	   *entries;
	size_t		nentries;
	size_t		size;			/* allocated length of entries */
	size_t		max_size;
	size_t		next;

	/* File of all rows.  NULL while the rows fit into memory. */
	SpoolFile  *file;

	/*
	 * Chunks of the entries of `table`.  The current chunk contains the entries
	 * greater than `low`, up to and including `high`.
	 */
	int			nchunks;
	int			chunk;			/* number of the chunk to sort next */
	Entry		low;
	Entry		high;
};

#define RS_SORT			sort_entries
#define RS_SCOPE		static
#define RS_ELEMENT_TYPE	Entry
#define RS_HIGH(a)		((a)->key)
#define RS_LOW(a)		tid_number(&(a)->tid)
#include "radix_sort.h"

#define INITIAL_SIZE	1024

/*
 * Create a spool that uses at most `memory` kilobytes, or more if that is too little for
 * INITIAL_SIZE entries.
 */
Spool *
spool_create(int memory)
{
	Spool	   *spool = palloc0(sizeof(Spool));

	spool->context = CurrentMemoryContext;
	spool->memory = memory;
	spool->size = INITIAL_SIZE;
	spool->max_size = Max(INITIAL_SIZE, (size_t) memory * 1024 / sizeof(Entry));
	spool->entries = palloc(spool->size * sizeof(Entry));
	return spool;
}

/*
 * Close and remove the file of rows, if there is one.
 */
static void
close_file(Spool *spool)
{
	if (spool->file)
		spool_file_close(spool->file);
	spool->file = NULL;
}

/*
 * Remove all rows, so that other rows can be added.  Keeps the array.
 */
void
spool_reuse(Spool *spool)
{
	close_file(spool);
	spool->table = NULL;
	spool->nrows = 0;
	spool->nentries = 0;
}

/*
 * Change the allocated length of the array, in entries.  Keeps the entries in memory.
 */
static void
resize(Spool *spool, size_t size)
{
	spool->size = size;
	spool->entries = repalloc_huge(spool->entries, size * sizeof(Entry));
}

/*
 * Move all rows to a file, because they do not fit into memory.  The sample and the
 * buffers of the file use a quarter of the memory.  Chunks are sorted in the other
 * three quarters.
 */
static void
switch_to_file(Spool *spool)
{
	spool->file = spool_file_create(spool->memory / 4);
	for (size_t i = 0; i < spool->nentries; i++)
	{
		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		spool_file_add(spool->file, &spool->entries[i]);
	}
	spool->nentries = 0;
	resize(spool, spool->max_size / 4 * 3);
}

/*
 * Enlarge the array of entries, or switch to a file if the array has its maximum length.
 */
static void
enlarge(Spool *spool)
{
	MemoryContext old_context = MemoryContextSwitchTo(spool->context);

	if (spool->size < spool->max_size)
		resize(spool, Min(2 * spool->size, spool->max_size));
	else
		switch_to_file(spool);
	MemoryContextSwitchTo(old_context);
}

/*
 * Add a row.  Must not be called between spool_begin() and spool_reuse().
 */
void
spool_add(Spool *spool, SimHash fp, const ItemPointerData *tid)
{
	Entry		row = make_entry(fp, tid);

	if (spool->file == NULL && spool->nentries == spool->size)
		enlarge(spool);
	if (spool->file)
		spool_file_add(spool->file, &row);
	else
		spool->entries[spool->nentries++] = row;
	spool->nrows++;
}

/*
 * Return the number of rows added.
 */
int64
spool_count(const Spool *spool)
{
	return spool->nrows;
}

/*
 * Begin to read the entries of a permuted table.  The table must remain valid until the
 * spool is reused or freed, or until the next spool_begin() has returned.  The next
 * spool_begin() needs this table to restore the fingerprints.
 */
void
spool_begin(Spool *spool, const PermutedTable *table)
{
	if (spool->file)
		spool->nchunks = spool_file_divide(spool->file, table, spool->size);
	else
	{
		rows_permute(spool->entries, spool->nentries, spool->table, table);
		spool->nchunks = 1;
		spool->high = highest_entry();
	}
	spool->table = table;
	spool->chunk = 0;
	spool->low = lowest_entry;
}

/*
 * Return true if an entry is in the current chunk.
 */
static bool
is_in_chunk(const Spool *spool, const Entry *entry)
{
	return entry_compare(entry, &spool->low) > 0 &&
		entry_compare(entry, &spool->high) <= 0;
}

/*
 * Add an entry of the current chunk.  If memory is full, sorts the entries read so
 * far, keeps the smaller half, and shortens the chunk so that it ends with this half.
 * The other entries of the chunk are read again later.
 */
static void
add_to_chunk(Spool *spool, const Entry *entry)
{
	if (spool->nentries == spool->size)
	{
		sort_entries(spool->entries, spool->nentries);
		spool->nentries /= 2;
		spool->high = spool->entries[spool->nentries - 1];
		if (!is_in_chunk(spool, entry))
			return;
	}
	spool->entries[spool->nentries++] = *entry;
}

/*
 * Read the entries of the current chunk from the file.  If not all of them fit into
 * memory, keeps the smallest that fit, and shortens the chunk.
 */
static void
read_chunk(Spool *spool)
{
	Entry	   *rows = palloc(ROW_FILE_BATCH * sizeof(Entry));
	Entry		end;
	RowFile    *file = spool_file_chunk(spool->file, spool->chunk, &end);
	int			n;

	spool->high = end;
	spool->nentries = 0;
	while (row_file_read(file, spool->table, spool->low.key, spool->high.key, rows, &n))
	{
		for (int i = 0; i < n; i++)
		{
			Entry		entry = rows[i];

			entry.key = design_key(spool->table, entry.key);
			if (is_in_chunk(spool, &entry))
				add_to_chunk(spool, &entry);
		}
	}
	pfree(rows);
	if (entry_compare(&spool->high, &end) == 0)
		spool->chunk++;
}

/*
 * Sort the entries of the next chunk.  spool_next() then returns them.  Returns false
 * if there are no more chunks.
 */
bool
spool_sort(Spool *spool)
{
	if (spool->chunk == spool->nchunks)
		return false;
	if (spool->file)
		read_chunk(spool);
	else
		spool->chunk++;
	sort_entries(spool->entries, spool->nentries);
	spool->low = spool->high;
	spool->next = 0;
	return true;
}

/*
 * Set *entry to the next entry of the sorted chunk.  Returns false after the last
 * entry.
 */
bool
spool_next(Spool *spool, Entry *entry)
{
	if (spool->next == spool->nentries)
		return false;
	*entry = spool->entries[spool->next++];
	return true;
}

/*
 * Free the spool, and remove its file, if there is one.
 */
void
spool_free(Spool *spool)
{
	close_file(spool);
	pfree(spool->entries);
	pfree(spool);
}
