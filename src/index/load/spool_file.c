/*-------------------------------------------------------------------------
 *
 * spool_file.c
 *		The rows of a spool that do not fit into memory, to be read in ranges
 *
 * For each table the entries are divided into ranges that should fit into memory,
 * by a random sample of the rows: so they are about as large, however the keys are
 * spread.  A bound is an entry, with a TID, so even rows that are all equal can be
 * divided.
 *
 * A few ranges are picked from the file itself, which is read once for each: a
 * fraction of the time of a sort.  If there are many, the rows are first distributed
 * to further files, their parts, each with the rows of one range or more; and where a
 * part has many ranges, its rows are distributed once more when it is its turn.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/sampling.h"

#include "index/load/spool_file.h"

/* Rows distributed to files: each has those of so many ranges, the last one perhaps less. */
typedef struct Parts
{
	int			first_range;
	int			nranges;
	int			n;				/* 0: they have not been distributed */
	int			part_ranges;
	RowFile    *part;
} Parts;

#define LEVELS			2

struct SpoolFile
{
	RowFile		rows;

	/* a sample of them; when they are divided, sorted entries of the table */
	Entry	   *sample;
	int			nsample;
	int			max_sample;
	ReservoirStateData reservoir;
	double		to_skip;		/* rows before the next one to be sampled, or -1 */
	const PermutedTable *table;	/* whose keys the sample has, or NULL */

	int			nranges;
	int			max_parts;		/* of a level */
	Parts		level[LEVELS];	/* of all rows; of a part of these */
};

#ifndef SIMHASH_TEST_BUILD
/* Ranges that are expected to fill memory so far do not often overfill it. */
#define FILL_PERCENT	85

/* Beyond so many ranges, rows are distributed to files. */
#define MAX_PASSES		8

#define MAX_PARTS		64
#else
/* so that few rows make parts of parts */
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
 * Memory, in kilobytes, is for the sample and for the buffers of files.
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
 * Vitter's algorithm, as ANALYZE has it: at any time all rows are as likely to
 * be in the sample.
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
 * Add a row.  To be called before the first spool_file_divide.
 */
void
spool_file_add(SpoolFile *file, const Entry *row)
{
	sample_row(file, row);
	row_file_add(&file->rows, row);
}

static void
close_parts(Parts *parts)
{
	for (int i = 0; i < parts->n; i++)
		BufFileClose(parts->part[i].file);
	parts->n = 0;
}

/*
 * The last entry that there may be in a range; or in a part, which ends where its
 * last range does, or, if it is the last part, would.
 */
static Entry
range_last(const SpoolFile *file, int range)
{
	if (range >= file->nranges - 1)
		return highest_entry();
	return file->sample[(int64) (range + 1) * file->nsample / file->nranges - 1];
}

/*
 * The part of an entry: as many as there are parts that end before it.
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
 * Distribute the rows of some ranges, which all are in one file.
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
 * Divide the entries of a table, which must live as long, into ranges of about that
 * many entries.  Returns their number.
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
 * The file that has the rows of a range, among others: of not many more, unless there are
 * more ranges than parts of parts.
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
 * Where the rows of a range are found, among others; and the last entry that there
 * may be in it.
 */
RowFile *
spool_file_range(SpoolFile *file, int range, Entry *last)
{
	RowFile    *rows = file_of_range(file, range);

	*last = range_last(file, range);
	row_file_rewind(rows);
	return rows;
}

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
