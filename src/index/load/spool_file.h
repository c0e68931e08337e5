/*
 * Rows of a spool that do not fit into memory, read in chunks
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SPOOL_FILE_H
#define SIMHASH_SPOOL_FILE_H

#include "storage/buffile.h"

#include "index/simhash/design.h"
#include "index/tree/page.h"

/*
 * Rows in a temporary file.  Here, a row is an entry: the TID of a heap row and one of
 * the keys of the heap row, not permuted.  The caller opens and closes the file.
 */
typedef struct RowFile
{
	BufFile    *file;
	int64		nrows;
	int64		nread;			/* number of rows read since the file was opened or
								 * rewound */
} RowFile;

/*
 * Maximum number of rows that row_file_read() reads at a time.
 */
#define ROW_FILE_BATCH	1024

/* Number of entries to process between two checks for interrupts.  A power of two. */
#define INTERRUPT_INTERVAL	65536

typedef struct SpoolFile SpoolFile;

extern void rows_permute(Entry *rows, size_t n, const PermutedTable *from,
						 const PermutedTable *to);
extern void row_file_add(RowFile *file, const Entry *row);
extern bool row_file_read(RowFile *file, const PermutedTable *table, uint64 min,
						  uint64 max, Entry *rows, int *nrows);

extern SpoolFile *spool_file_create(int memory);
extern void spool_file_add(SpoolFile *file, const Entry *row);
extern int	spool_file_divide(SpoolFile *file, const PermutedTable *table,
							  size_t chunk_size);
extern RowFile *spool_file_chunk(SpoolFile *file, int chunk, Entry *last);
extern void spool_file_close(SpoolFile *file);

#endif							/* SIMHASH_SPOOL_FILE_H */
