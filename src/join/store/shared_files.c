/*
 * Temporary files that the participants of a parallel join share
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <fcntl.h>

#include "join/store/shared_files.h"

/*
 * Initialize the files of a kind, of which this participant has opened none.  To free the
 * memory, the caller resets or deletes the context after shared_files_close().
 */
void
shared_files_init(SharedFiles *files, MemoryContext context, FileSet *fileset, const char *kind,
				  bool is_left, int own, int n)
{
	*files = (SharedFiles) {
		context, fileset, kind, is_left, own, n, MemoryContextAllocZero(context, n * sizeof(BufFile *))
	};
}

/*
 * Set the name of a participant's file.
 */
static void
set_name(const SharedFiles *files, int participant, char *name)
{
	snprintf(name, MAXPGPATH, "%s_%s.%d", files->is_left ? "left" : "right", files->kind, participant);
}

/*
 * Create the file of this participant.
 */
BufFile *
shared_files_create(SharedFiles *files)
{
	MemoryContext old = MemoryContextSwitchTo(files->context);
	char		name[MAXPGPATH];

	set_name(files, files->own, name);
	files->file[files->own] = BufFileCreateFileSet(files->fileset, name);
	MemoryContextSwitchTo(old);
	return files->file[files->own];
}

/*
 * Let the others read the file of this participant, if it has created one.  It must not be
 * written after that.
 */
void
shared_files_export(SharedFiles *files)
{
	if (files->fileset && files->file[files->own])
		BufFileExportFileSet(files->file[files->own]);
}

/*
 * Return the file of a participant, which must have been exported, or is its own.
 */
BufFile *
shared_files_open(SharedFiles *files, int participant)
{
	if (files->file[participant] == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(files->context);
		char		name[MAXPGPATH];

		set_name(files, participant, name);
		files->file[participant] = BufFileOpenFileSet(files->fileset, name, O_RDONLY, false);
		MemoryContextSwitchTo(old);
	}
	return files->file[participant];
}

/*
 * Close all files.  Their SharedFileSet deletes them.
 */
void
shared_files_close(SharedFiles *files)
{
	for (int i = 0; i < files->n; i++)
		if (files->file[i])
			BufFileClose(files->file[i]);
	memset(files, 0, sizeof(SharedFiles));
}
