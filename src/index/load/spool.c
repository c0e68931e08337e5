/*
 * Collecting the rows of a build, and sorting them for each permuted table
 *
 * While the rows fit into memory, they are one array.  For each permuted table, the array
 * is sorted again.  This takes a fraction of the time of a tuplesort for each table.
 *
 * If the rows do not fit, they are in a file.  Then the entries of a table are divided into
 * chunks, ranges of entries that should fit into memory.  One chunk after the other is read
 * and sorted.  A random sample of the rows determines the bounds of the chunks.  So the chunks
 * have about the same number of entries, however the keys are spread.  A bound is an entry,
 * which has a TID.  So rows can be divided even if all their keys are equal.
 *
 * Few chunks are picked from the file of all rows.  The file is read once for each chunk, in a
 * fraction of the time that sorting takes.  If there are many chunks, the rows are first
 * distributed to further files, each with the rows of one or more chunks.  With
 * maintenance_work_mem of 64 MB, a billion rows are distributed to 62 files of 7 chunks.
 *
 * (A partition is what a participant of a parallel build reads into its spool at a time:
 * build_worker.c.)
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/sampling.h"

#include "compat.h"
#include "index/load/load.h"

#define INITIAL_SIZE	1024

/* Number of entries to process between two checks for interrupts.  A power of two. */
#define INTERRUPT_INTERVAL	65536

#ifndef SIMHASH_TEST_BUILD
/*
 * Expected percentage of memory that a chunk fills.  With 85, few chunks need more
 * memory than there is.
 */
#define FILL_PERCENT	85

/*
 * Maximum number of chunks that are picked from the file of all rows, each by reading
 * the whole file.  If there are more chunks, the rows are distributed to other files.
 */
#define MAX_PASSES		8

#define MAX_FILES		64
#else
/* low limits for tests: a small number of rows is distributed to files */
#define FILL_PERCENT	5
#define MAX_PASSES		2
#define MAX_FILES		3
#endif
#define MAX_SAMPLE		32768

struct Spool
{
	MemoryContext context;
	int			memory;			/* maximum memory, in kilobytes */
	const PermutedTable *table;	/* permuted table of the keys of entries and sample.
								 * NULL if the keys are not permuted. */

	/* Entries in memory.  These are all entries, or those of the current chunk. */
	Entry	   *entries;
	size_t		nentries;
	size_t		size;			/* allocated length of entries */
	size_t		max_size;
	size_t		next;

	/* All rows.  While they fit into memory, rows.file is NULL, but they are counted. */
	RowFile		rows;

	/* Sample of the rows in the file. */
	Entry	   *sample;
	int			nsample;
	int			max_sample;
	ReservoirStateData reservoir;
	double		to_skip;		/* number of rows to skip before the next
								 * sampled row, or -1 if not chosen yet */

	/*
	 * Chunks of the entries of `table`.  The current chunk contains the entries
	 * greater than `low`, up to and including `high`.
	 */
	int			nchunks;
	int			chunk;			/* number of the chunk to sort next */
	Entry		low;
	Entry		high;

	/*
	 * Files to which the rows are distributed.  Each file contains the rows of per_file
	 * consecutive chunks.  The last file may contain fewer chunks.
	 */
	RowFile		file[MAX_FILES];
	int			nfiles;			/* 0 if the rows are not distributed */
	int			max_files;
	int			per_file;
};

#define RS_SORT			sort_entries
#define RS_SCOPE		static
#define RS_ELEMENT_TYPE	Entry
#define RS_HIGH(a)		((a)->key)
#define RS_LOW(a)		tid_number(&(a)->tid)
#include "radix_sort.h"

/* --- files of rows ----------------------------------------------------------------- */

/*
 * Append a row to the file, and count it.
 */
void
row_file_add(RowFile *file, const Entry *row)
{
	BufFileWrite(file->file, unconstify(Entry *, row), sizeof(*row));
	file->nrows++;
}

/*
 * Go back to the first row of the file, for row_file_read().
 */
static void
row_file_rewind(RowFile *file)
{
	if (BufFileSeek(file->file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file")));
	file->nread = 0;
}

/*
 * Read the next rows, at most ROW_FILE_BATCH.  Stores the rows whose keys in a permuted
 * table are from min to max, both inclusive, in `rows`, with their keys not permuted.
 * The length of `rows` is ROW_FILE_BATCH.  Sets *nrows to the number of rows stored,
 * which may be 0.  Returns false at the end of the file.  Checks for interrupts.
 */
bool
row_file_read(RowFile *file, const PermutedTable *table, uint64 min, uint64 max,
			  Entry *rows, int *nrows)
{
	int			nread = Min(file->nrows - file->nread, ROW_FILE_BATCH);
	int			npicked = 0;

	CHECK_FOR_INTERRUPTS();
	read_temp_file(file->file, rows, nread * sizeof(Entry));
	file->nread += nread;

	/* no branch in the loop, because the processor could not predict it */
	for (int i = 0; i < nread; i++)
	{
		uint64		key = design_key(table, rows[i].key);

		rows[npicked] = rows[i];
		npicked += (key >= min) & (key <= max);
	}
	*nrows = npicked;
	return nread > 0;
}

/* --- rows that do not fit into memory ----------------------------------------------- */

/*
 * Change the keys of n rows to those of a permuted table, `to`.  Before, the keys are those
 * of `from`, or not permuted if that is NULL.  Checks for interrupts.
 */
static void
permute_rows(Entry *rows, size_t n, const PermutedTable *from, const PermutedTable *to)
{
	if (from == to)
		return;
	for (size_t i = 0; i < n; i++)
	{
		SimHash		fp = rows[i].key;

		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (from)
			fp = design_fingerprint(from, fp);
		rows[i].key = design_key(to, fp);
	}
}

/*
 * Add a row to the sample or skip it, by Vitter's algorithm, as in ANALYZE.  Each row
 * passed so far is in the sample with the same probability.
 */
static void
sample_row(Spool *spool, const Entry *row)
{
	if (spool->nsample < spool->max_sample)
	{
		spool->sample[spool->nsample++] = *row;
		return;
	}
	if (spool->to_skip < 0)
		spool->to_skip = reservoir_get_next_S(&spool->reservoir, spool->rows.nrows,
											 spool->max_sample);
	if (spool->to_skip <= 0)
	{
		int			i = spool->max_sample *
			sampler_random_fract(&spool->reservoir.randstate);

		spool->sample[i] = *row;
	}
	spool->to_skip--;
}

/*
 * Add a row to the file, and perhaps to the sample.
 */
static void
add_to_file(Spool *spool, const Entry *row)
{
	sample_row(spool, row);
	row_file_add(&spool->rows, row);
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
 * Move all rows to a file, because they do not fit into memory.  An eighth of the memory is
 * for the sample, and another for the buffers of files.  Chunks are sorted in the other three
 * quarters.
 */
static void
switch_to_file(Spool *spool)
{
	size_t		eighth = (size_t) spool->memory * 1024 / 8;

	spool->rows = (RowFile) {.file = BufFileCreateTemp(false)};
	spool->max_files = Min(MAX_FILES, Max(4, eighth / BLCKSZ));
	spool->nsample = 0;
	spool->max_sample = Min(MAX_SAMPLE, Max(256, eighth / sizeof(Entry)));
	spool->sample = palloc(spool->max_sample * sizeof(Entry));
	reservoir_init_selection_state(&spool->reservoir, spool->max_sample);
	spool->to_skip = -1;
	for (size_t i = 0; i < spool->nentries; i++)
	{
		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		add_to_file(spool, &spool->entries[i]);
	}
	spool->nentries = 0;
	resize(spool, spool->max_size / 4 * 3);
}

/*
 * Close and remove the files of chunks, if there are any.
 */
static void
close_chunk_files(Spool *spool)
{
	for (int i = 0; i < spool->nfiles; i++)
		BufFileClose(spool->file[i].file);
	spool->nfiles = 0;
}

/*
 * Return the inclusive upper bound of a chunk.
 *
 * distribute() may pass a chunk after the last chunk that it distributes, because
 * the last file may have fewer than per_file chunks.  The result is not used in that
 * case, because find_file() ignores the bound of the last file.
 */
static Entry
chunk_last(const Spool *spool, int chunk)
{
	if (chunk >= spool->nchunks - 1)
		return highest_entry();
	return spool->sample[(int64) (chunk + 1) * spool->nsample / spool->nchunks - 1];
}

/*
 * Return the number of the file that an entry belongs to.  ends[] contains the inclusive
 * upper bound of each file, in ascending order.  An entry above the bounds of all other
 * files belongs to the last file, whose bound is ignored.
 */
static int
find_file(const Entry *ends, int nfiles, const Entry *entry)
{
	int			low = 0;
	int			high = nfiles - 1;

	FIND_FIRST(low, high, i, entry_compare(&ends[i], entry) < 0);
	return low;
}

/*
 * Distribute the rows to the files of their chunks.
 */
static void
distribute(Spool *spool)
{
	Entry	   *rows = palloc(ROW_FILE_BATCH * sizeof(Entry));
	Entry		ends[MAX_FILES];
	int			n;

	spool->per_file = (spool->nchunks + spool->max_files - 1) / spool->max_files;
	spool->nfiles = (spool->nchunks + spool->per_file - 1) / spool->per_file;
	for (int i = 0; i < spool->nfiles; i++)
	{
		spool->file[i] = (RowFile) {.file = BufFileCreateTemp(false)};
		ends[i] = chunk_last(spool, (i + 1) * spool->per_file - 1);
	}
	row_file_rewind(&spool->rows);
	while (row_file_read(&spool->rows, spool->table, 0, PG_UINT64_MAX, rows, &n))
	{
		for (int i = 0; i < n; i++)
		{
			Entry		entry = rows[i];

			entry.key = design_key(spool->table, entry.key);
			row_file_add(&spool->file[find_file(ends, spool->nfiles, &entry)], &rows[i]);
		}
	}
	pfree(rows);
}

/*
 * Divide the entries of a permuted table into chunks, each expected to fill FILL_PERCENT of
 * the array.  There are no more chunks than sampled rows.
 */
static void
divide(Spool *spool, const PermutedTable *table)
{
	int64		nchunks = spool->rows.nrows / (spool->size * FILL_PERCENT / 100) + 1;

	close_chunk_files(spool);
	permute_rows(spool->sample, spool->nsample, spool->table, table);
	sort_entries(spool->sample, spool->nsample);
	spool->nchunks = Min(nchunks, spool->nsample);
}

/*
 * Return the file that contains the rows of the next chunk, among rows of other chunks,
 * rewound.  Distributes the rows to files first, if there are many chunks.
 */
static RowFile *
rewind_chunk_file(Spool *spool)
{
	RowFile    *file = &spool->rows;

	if (spool->nchunks > MAX_PASSES)
	{
		if (spool->nfiles == 0)
			distribute(spool);
		file = &spool->file[spool->chunk / spool->per_file];
	}
	row_file_rewind(file);
	return file;
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
	Entry		end = chunk_last(spool, spool->chunk);
	RowFile    *file = rewind_chunk_file(spool);
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

/* --- the spool ------------------------------------------------------------------------ */

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
 * Add a row.  Must not be called after spool_begin().
 */
void
spool_add(Spool *spool, SimHash fp, const ItemPointerData *tid)
{
	Entry		row = make_entry(fp, tid);

	if (spool->rows.file == NULL && spool->nentries == spool->size)
		enlarge(spool);
	if (spool->rows.file)
		add_to_file(spool, &row);
	else
	{
		spool->entries[spool->nentries++] = row;
		spool->rows.nrows++;
	}
}

/*
 * Return the number of rows added.
 */
int64
spool_count(const Spool *spool)
{
	return spool->rows.nrows;
}

/*
 * Begin to read the entries of a permuted table.  The table must remain valid until the
 * spool is freed, or until the next spool_begin() has returned.  The next
 * spool_begin() needs this table to restore the fingerprints.
 */
void
spool_begin(Spool *spool, const PermutedTable *table)
{
	if (spool->rows.file)
		divide(spool, table);
	else
	{
		permute_rows(spool->entries, spool->nentries, spool->table, table);
		spool->nchunks = 1;
	}
	spool->table = table;
	spool->chunk = 0;
	spool->low = lowest_entry;
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
	if (spool->rows.file)
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
 * Free the spool, and remove its files, if there are any.
 */
void
spool_free(Spool *spool)
{
	if (spool->rows.file)
	{
		close_chunk_files(spool);
		BufFileClose(spool->rows.file);
		pfree(spool->sample);
	}
	pfree(spool->entries);
	pfree(spool);
}
