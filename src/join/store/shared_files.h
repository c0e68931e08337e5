/*
 * Temporary files that the participants of a parallel join share
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SHARED_FILES_H
#define SIMHASH_SHARED_FILES_H

#include "storage/buffile.h"
#include "storage/fileset.h"

/*
 * Files of one kind.  Each participant writes at most one, and all of them read it.
 */
typedef struct SharedFiles
{
	MemoryContext context;		/* context of the files' buffers */
	FileSet    *fileset;		/* NULL if the join is not parallel */
	const char *kind;
	bool		is_left;
	int			own;			/* number of this participant */
	int			n;				/* number of participants */
	BufFile   **file;			/* by participant; NULL if not opened yet */
} SharedFiles;

extern void shared_files_init(SharedFiles *files, MemoryContext context, FileSet *fileset,
							  const char *kind, bool is_left, int own, int n);
extern BufFile *shared_files_create(SharedFiles *files);
extern void shared_files_export(SharedFiles *files);
extern BufFile *shared_files_open(SharedFiles *files, int participant);
extern void shared_files_close(SharedFiles *files);

#endif							/* SIMHASH_SHARED_FILES_H */
