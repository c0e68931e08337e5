/*-------------------------------------------------------------------------
 *
 * row_file.c
 *		Rows in a temporary file
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "index/load/row_file.h"

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
