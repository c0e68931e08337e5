/*-------------------------------------------------------------------------
 *
 * spool_file.c
 *		Rows of a spool that do not fit into memory, read in ranges
 *
 * For each permuted table, the entries are divided into ranges that should fit into
 * memory.  A random sample of the rows determines the bounds of the ranges.  So the ranges
 * have about the same number of entries, however the keys are spread.  A bound is an entry,
 * which has a TID.  So rows can be divided even if all their keys are equal.
 *
 * If there are few ranges, they are picked from the file of all rows.  The file is read
 * once for each range, in a fraction of the time that sorting takes.  If there are many
 * ranges, the rows are first distributed to further files, the parts.  Each part contains
 * the rows of one or more ranges.  If a part has many ranges, its rows are distributed to
 * further parts before its first range is read.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/sampling.h"

#include "compat.h"
#include "index/load/spool_file.h"

/*
 * Files to which the rows of nranges consecutive ranges are distributed.  Each part
 * contains the rows of part_ranges ranges, except that the last part may contain fewer
 * ranges.
 */
typedef struct Parts
{
	int			first_range;
	int			nranges;
	int			n;				/* number of parts.  0 if no rows are distributed. */
	int			part_ranges;
	RowFile    *part;
} Parts;

#define LEVELS			2

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

	int			nranges;
	int			max_parts;		/* maximum number of parts of a level */
	Parts		level[LEVELS];	/* level[0] has the parts of all rows, level[1]
								 * the parts of one of those parts */
};

#ifndef SIMHASH_TEST_BUILD
/*
 * Expected percentage of memory that a range fills.  With 85, few ranges need more memory
 * than there is.
 */
#define FILL_PERCENT	85

/*
 * Maximum number of ranges that are picked from one file.  Each of them is picked by
 * reading the whole file.  If a file has more ranges, its rows are distributed to parts.
 */
#define MAX_PASSES		8

#define MAX_PARTS		64
#else
/* low limits for tests: a small number of rows makes parts on both levels */
#define FILL_PERCENT	5
#define MAX_PASSES		2
#define MAX_PARTS		3
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
void
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
	file->max_parts = Min(MAX_PARTS, Max(4, half / LEVELS / BLCKSZ));
	for (int i = 0; i < LEVELS; i++)
		file->level[i].part = palloc0(file->max_parts * sizeof(RowFile));
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
 * Close and remove the files of parts, if there are any.
 */
static void
close_parts(Parts *parts)
{
	for (int i = 0; i < parts->n; i++)
		BufFileClose(parts->part[i].file);
	parts->n = 0;
}

/*
 * Return the inclusive upper bound of a range.
 *
 * distribute() may ask for a range after the last range that it distributes, because the
 * last part may have fewer than part_ranges ranges.  The result is not used in that case,
 * because find_part() ignores the bound of the last part.
 */
static Entry
range_last(const SpoolFile *file, int range)
{
	if (range >= file->nranges - 1)
		return highest_entry();
	return file->sample[(int64) (range + 1) * file->nsample / file->nranges - 1];
}

/*
 * Return the number of the part that an entry belongs to.  ends[] contains the inclusive
 * upper bound of each part, in ascending order.  An entry above the bounds of all other
 * parts belongs to the last part, whose bound is ignored.
 */
static int
find_part(const Entry *ends, int nparts, const Entry *entry)
{
	int			low = 0;
	int			high = nparts - 1;

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
 * Distribute the rows of nranges ranges, beginning with first_range, to parts.  The file
 * `source` contains the rows of these ranges and no others.
 */
static void
distribute(SpoolFile *file, RowFile *source, int first_range, int nranges, Parts *parts)
{
	Entry	   *rows = palloc(ROW_FILE_BATCH * sizeof(Entry));
	Entry		ends[MAX_PARTS];
	int			n;

	parts->first_range = first_range;
	parts->nranges = nranges;
	parts->part_ranges = (nranges + file->max_parts - 1) / file->max_parts;
	parts->n = (nranges + parts->part_ranges - 1) / parts->part_ranges;
	for (int i = 0; i < parts->n; i++)
	{
		parts->part[i] = (RowFile) {.file = BufFileCreateTemp(false)};
		ends[i] = range_last(file, first_range + (i + 1) * parts->part_ranges - 1);
	}
	row_file_rewind(source);
	while (row_file_read(source, file->table, 0, PG_UINT64_MAX, rows, &n))
	{
		for (int i = 0; i < n; i++)
		{
			Entry		entry = rows[i];

			entry.key = design_key(file->table, entry.key);
			row_file_add(&parts->part[find_part(ends, parts->n, &entry)], &rows[i]);
		}
	}
	pfree(rows);
}

/*
 * Divide the entries of a permuted table into ranges, each expected to fill FILL_PERCENT
 * of range_size entries.  Returns the number of ranges, which is at most the number of
 * sampled rows.  The table must remain valid while ranges are read, and until the next
 * call of this function has returned.
 */
int
spool_file_divide(SpoolFile *file, const PermutedTable *table, size_t range_size)
{
	int64		nranges = file->rows.nrows / (range_size * FILL_PERCENT / 100) + 1;

	for (int i = 0; i < LEVELS; i++)
		close_parts(&file->level[i]);
	for (int i = 0; i < file->nsample; i++)
	{
		Entry	   *entry = &file->sample[i];

		if (file->table)
			entry->key = design_fingerprint(file->table, entry->key);
		entry->key = design_key(table, entry->key);
	}
	sort_sample(file->sample, file->nsample);
	file->table = table;
	file->nranges = Min(nranges, file->nsample);
	return file->nranges;
}

/*
 * Return a file that contains the rows of a range, among rows of other ranges.
 * Distributes rows to parts if necessary.  The file has at most MAX_PASSES ranges, unless
 * even two levels of parts are too few for that.
 */
static RowFile *
file_of_range(SpoolFile *file, int range)
{
	RowFile    *rows = &file->rows;
	int			first = 0;
	int			nranges = file->nranges;

	for (int i = 0; i < LEVELS && nranges > MAX_PASSES; i++)
	{
		Parts	   *parts = &file->level[i];
		int			at;

		if (parts->n == 0 || parts->first_range != first)
		{
			close_parts(parts);
			distribute(file, rows, first, nranges, parts);
		}
		at = (range - first) / parts->part_ranges;
		rows = &parts->part[at];
		first += at * parts->part_ranges;
		nranges = Min(parts->part_ranges, parts->first_range + parts->nranges - first);
	}
	return rows;
}

/*
 * Return a file that contains the rows of a range, among rows of other ranges.  The file
 * is rewound, and the caller must not close it.  Sets *last to the upper bound of the
 * range, inclusive.
 */
RowFile *
spool_file_range(SpoolFile *file, int range, Entry *last)
{
	RowFile    *rows = file_of_range(file, range);

	*last = range_last(file, range);
	row_file_rewind(rows);
	return rows;
}

/*
 * Close and remove the file and its parts, and free the memory.
 */
void
spool_file_close(SpoolFile *file)
{
	for (int i = 0; i < LEVELS; i++)
	{
		close_parts(&file->level[i]);
		pfree(file->level[i].part);
	}
	BufFileClose(file->rows.file);
	pfree(file->sample);
	pfree(file);
}
