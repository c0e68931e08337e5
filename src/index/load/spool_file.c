/*
 * Rows of a spool that do not fit into memory, read in chunks
 *
 * For each permuted table, the entries are divided into chunks that should fit into
 * memory.  A random sample of the rows determines the bounds of the chunks.  So the
 * chunks have about the same number of entries, however the keys are spread.  A bound
 * is an entry, which has a TID.  So rows can be divided even if all their keys are equal.
 *
 * If there are few chunks, they are picked from the file of all rows.  The file is
 * read once for each chunk, in a fraction of the time that sorting takes.  If there are
 * many chunks, the rows are first distributed to further files.  Each file contains the
 * rows of one or more chunks.  With maintenance_work_mem of 64 MB, a billion rows are
 * distributed to 62 files of 7 chunks.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/sampling.h"

#include "compat.h"
#include "index/load/load.h"

struct SpoolFile
{
	RowFile		rows;

	/*
	 * Sample of the rows.  After spool_file_divide(), the keys of the sampled rows are
	 * those of `table`, and the rows are sorted.
	 */
	Entry	   *sample;
	int			nsample;
	int			max_sample;
	ReservoirStateData reservoir;
	double		to_skip;		/* number of rows to skip before the next
								 * sampled row, or -1 if not chosen yet */
	const PermutedTable *table;	/* permuted table of the sample's keys.  NULL if
								 * the keys are not permuted. */

	int			nchunks;

	/*
	 * Files to which the rows are distributed.  Each file contains the rows of per_file
	 * consecutive chunks.  The last file may contain fewer chunks.
	 */
	RowFile    *file;
	int			nfiles;			/* 0 if the rows are not distributed */
	int			max_files;
	int			per_file;
};

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

#define ST_SORT sort_sample
#define ST_ELEMENT_TYPE Entry
#define ST_COMPARE(a, b) entry_compare(a, b)
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Change the keys of n rows to those of a permuted table, `to`.  Before, the keys are those
 * of `from`, or not permuted if that is NULL.  Checks for interrupts.
 */
void
rows_permute(Entry *rows, size_t n, const PermutedTable *from, const PermutedTable *to)
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

/*
 * Create an empty file of rows.  `memory` is in kilobytes.  One half is for the sample,
 * the other half is for the buffers of files.
 */
SpoolFile *
spool_file_create(int memory)
{
	SpoolFile  *file = palloc0(sizeof(SpoolFile));
	size_t		half = (size_t) memory * 1024 / 2;

	file->rows.file = BufFileCreateTemp(false);
	file->max_files = Min(MAX_FILES, Max(4, half / BLCKSZ));
	file->file = palloc0(file->max_files * sizeof(RowFile));
	file->max_sample = Min(MAX_SAMPLE, Max(256, half / sizeof(Entry)));
	file->sample = palloc(file->max_sample * sizeof(Entry));
	reservoir_init_selection_state(&file->reservoir, file->max_sample);
	file->to_skip = -1;
	return file;
}

/*
 * Add a row to the sample or skip it, by Vitter's algorithm, as in ANALYZE.  Each row
 * passed so far is in the sample with the same probability.
 */
static void
sample_row(SpoolFile *file, const Entry *row)
{
	if (file->nsample < file->max_sample)
	{
		file->sample[file->nsample++] = *row;
		return;
	}
	if (file->to_skip < 0)
		file->to_skip = reservoir_get_next_S(&file->reservoir, file->rows.nrows,
											 file->max_sample);
	if (file->to_skip <= 0)
	{
		int			i = file->max_sample *
			sampler_random_fract(&file->reservoir.randstate);

		file->sample[i] = *row;
	}
	file->to_skip--;
}

/*
 * Add a row to the file, and perhaps to the sample.  Must not be called after
 * spool_file_divide().
 */
void
spool_file_add(SpoolFile *file, const Entry *row)
{
	sample_row(file, row);
	row_file_add(&file->rows, row);
}

/*
 * Close and remove the files of chunks, if there are any.
 */
static void
close_files(SpoolFile *file)
{
	for (int i = 0; i < file->nfiles; i++)
		BufFileClose(file->file[i].file);
	file->nfiles = 0;
}

/*
 * Return the inclusive upper bound of a chunk.
 *
 * distribute() may pass a chunk after the last chunk that it distributes, because
 * the last file may have fewer than per_file chunks.  The result is not used in that
 * case, because find_file() ignores the bound of the last file.
 */
static Entry
chunk_last(const SpoolFile *file, int chunk)
{
	if (chunk >= file->nchunks - 1)
		return highest_entry();
	return file->sample[(int64) (chunk + 1) * file->nsample / file->nchunks - 1];
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

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (entry_compare(&ends[middle], entry) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Distribute the rows to the files of their chunks.
 */
static void
distribute(SpoolFile *file)
{
	Entry	   *rows = palloc(ROW_FILE_BATCH * sizeof(Entry));
	Entry		ends[MAX_FILES];
	int			n;

	file->per_file = (file->nchunks + file->max_files - 1) / file->max_files;
	file->nfiles = (file->nchunks + file->per_file - 1) / file->per_file;
	for (int i = 0; i < file->nfiles; i++)
	{
		file->file[i] = (RowFile) {.file = BufFileCreateTemp(false)};
		ends[i] = chunk_last(file, (i + 1) * file->per_file - 1);
	}
	row_file_rewind(&file->rows);
	while (row_file_read(&file->rows, file->table, 0, PG_UINT64_MAX, rows, &n))
	{
		for (int i = 0; i < n; i++)
		{
			Entry		entry = rows[i];

			entry.key = design_key(file->table, entry.key);
			row_file_add(&file->file[find_file(ends, file->nfiles, &entry)], &rows[i]);
		}
	}
	pfree(rows);
}

/*
 * Divide the entries of a permuted table into chunks, each expected to fill
 * FILL_PERCENT of chunk_size entries.  Returns the number of chunks, which is at
 * most the number of sampled rows.  The table must remain valid while chunks are read,
 * and until the next call of this function has returned.
 */
int
spool_file_divide(SpoolFile *file, const PermutedTable *table, size_t chunk_size)
{
	int64		nchunks = file->rows.nrows / (chunk_size * FILL_PERCENT / 100) + 1;

	close_files(file);
	rows_permute(file->sample, file->nsample, file->table, table);
	sort_sample(file->sample, file->nsample);
	file->table = table;
	file->nchunks = Min(nchunks, file->nsample);
	return file->nchunks;
}

/*
 * Return a file that contains the rows of a chunk, among rows of other chunks.
 * Distributes the rows to files first, if there are many chunks.  The file is rewound,
 * and the caller must not close it.  Sets *last to the upper bound of the chunk,
 * inclusive.
 */
RowFile *
spool_file_chunk(SpoolFile *file, int chunk, Entry *last)
{
	RowFile    *rows = &file->rows;

	if (file->nchunks > MAX_PASSES)
	{
		if (file->nfiles == 0)
			distribute(file);
		rows = &file->file[chunk / file->per_file];
	}
	*last = chunk_last(file, chunk);
	row_file_rewind(rows);
	return rows;
}

/*
 * Close and remove the files, and free the memory.
 */
void
spool_file_close(SpoolFile *file)
{
	close_files(file);
	pfree(file->file);
	BufFileClose(file->rows.file);
	pfree(file->sample);
	pfree(file);
}
