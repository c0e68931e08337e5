/*-------------------------------------------------------------------------
 *
 * row_file.h
 *		Rows in a temporary file
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROW_FILE_H
#define SIMHASH_ROW_FILE_H

#include "storage/buffile.h"

#include "index/simhash/design.h"
#include "index/tree/page.h"

/* The file is opened and closed by whoever knows whose it is. */
typedef struct RowFile
{
	BufFile    *file;
	int64		nrows;
	int64		nread;			/* since it was opened or rewound */
} RowFile;

/*
 * Rows read at a time.  A row here is an entry: one key of a heap row, not permuted, and
 * the TID.
 */
#define ROW_FILE_BATCH	1024

extern void row_file_add(RowFile *file, const Entry *row);
extern void row_file_rewind(RowFile *file);
extern bool row_file_read(RowFile *file, const PermutedTable *table, uint64 min,
						  uint64 max, Entry *rows, int *nrows);
extern void row_file_read_exact(BufFile *file, void *data, size_t size);

/* All bytes of a row are written, those between its fields, too. */
static inline Entry
make_row(SimHash fp, const ItemPointerData *tid)
{
	Entry		row;

	memset(&row, 0, sizeof(row));
	row.key = fp;
	row.tid = *tid;
	return row;
}

#endif							/* SIMHASH_ROW_FILE_H */
