/*-------------------------------------------------------------------------
 *
 * spool_file.h
 *		Rows of a spool that do not fit into memory, read in ranges
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SPOOL_FILE_H
#define SIMHASH_SPOOL_FILE_H

#include "index/load/row_file.h"

typedef struct SpoolFile SpoolFile;

extern SpoolFile *spool_file_create(int memory);
extern void spool_file_add(SpoolFile *file, const Entry *row);
extern int	spool_file_divide(SpoolFile *file, const PermutedTable *table,
							  size_t range_size);
extern RowFile *spool_file_range(SpoolFile *file, int range, Entry *last);
extern void spool_file_close(SpoolFile *file);

#endif							/* SIMHASH_SPOOL_FILE_H */
