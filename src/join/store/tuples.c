/*
 * Tuples of an input of a join, in memory or in a temporary file
 *
 * A join fetches tuples in any order.  A tuplestore cannot do that, since its tuples have
 * no addresses.
 *
 * Tuples are not partitioned.  They go to the file in runs, each as large as their part of
 * the memory, sorted by hash value and fingerprint.  Pairs whose tuples are in files are
 * pending until there are many (pending.c), but not those of semi and anti joins.
 * Partitions by the first contiguous block find most pairs, and are ranges of the leading
 * bits.  So the tuples of pending pairs are in a small part of each run.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "utils/memutils.h"

#include "join/store/tuples.h"

/* Sizes of the first arena of tuples in memory and of the largest ones, in bytes. */
#define MIN_ARENA_SIZE		(4 * 1024)
#define MAX_ARENA_SIZE		(64 * 1024)

/* Size of the changed tuples that are written together, in bytes. */
#define CHANGES_SIZE		(4 * BLCKSZ)

/*
 * Initialize an empty set of tuples.  `limit` is the limit of join_tuples_is_full(), or 0
 * for none.  To free the memory, the caller resets or deletes the context.
 */
void
join_tuples_init(JoinTuples *tuples, MemoryContext context, Size limit)
{
	memset(tuples, 0, sizeof(JoinTuples));
	tuples->context = context;
	tuples->limit = limit;
}

/*
 * Return the size of the next arena, in which a tuple of `size` bytes must fit.  The
 * arenas grow with the tuples.  So few tuples take little of a small work_mem.
 */
static Size
next_arena_size(const JoinTuples *tuples, Size size)
{
	return Max(Min(Max(tuples->memory, MIN_ARENA_SIZE), MAX_ARENA_SIZE), size);
}

/*
 * Return true if `size` bytes are free.  May add an arena in shared memory.
 */
static bool
has_space(JoinTuples *tuples, Size size)
{
	SharedArenas *arenas = tuples->shared_arenas;
	uint32		i;

	if (tuples->nfree >= size)
		return true;
	if (arenas == NULL || size > shared_arena_size(arenas) || !shared_arenas_add(arenas, &i))
		return false;
	tuples->free = shared_arena(arenas, i);
	tuples->nfree = shared_arena_size(arenas);
	tuples->next = i * tuples->nfree + IN_SHARED_ARENA;
	return true;
}

/*
 * Return true if the tuples in memory have to be moved to the file before a tuple is
 * added, because the memory of this process would exceed the limit.
 */
bool
join_tuples_is_full(JoinTuples *tuples, MinimalTuple tuple)
{
	Size		size = MAXALIGN(tuple->t_len);

	return tuples->limit > 0 && !has_space(tuples, size) && tuples->memory > 0 &&
		tuples->memory + next_arena_size(tuples, size) > tuples->limit;
}

/*
 * Add a copy of a tuple in memory.  Returns its location.
 */
TupleLocation
join_tuples_add(JoinTuples *tuples, MinimalTuple tuple)
{
	Size		size = MAXALIGN(tuple->t_len);
	TupleLocation location;

	if (!has_space(tuples, size))
	{
		MemoryContext old = MemoryContextSwitchTo(tuples->context);

		tuples->nfree = next_arena_size(tuples, size);
		tuples->free = MemoryContextAllocHuge(tuples->context, tuples->nfree);
		tuples->next = join_tuple_location((MinimalTuple) tuples->free);
		tuples->arenas = lappend(tuples->arenas, tuples->free);
		MemoryContextSwitchTo(old);
		tuples->memory += tuples->nfree;
	}
	location = tuples->next;
	memcpy(tuples->free, tuple, tuple->t_len);
	tuples->free += size;
	tuples->next += size;
	tuples->nfree -= size;
	return location;
}

/*
 * Return the location of a tuple in the file of this process.
 */
static inline TupleLocation
file_location(const JoinTuples *tuples, uint64 offset)
{
	return ((uint64) tuples->shared.own << FILE_OFFSET_BITS | offset) << 1 | IN_FILE;
}

/*
 * Write a copy of a tuple in memory to the file.  Returns the location of the copy.
 */
TupleLocation
join_tuples_write(JoinTuples *tuples, TupleLocation location)
{
	MinimalTuple tuple = join_tuples_fetch(tuples, location);

	if (tuples->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(tuples->context);

		PrepareTempTablespaces();
		tuples->file = tuples->shared.fileset ? shared_files_create(&tuples->shared) :
			BufFileCreateTemp(false);
		MemoryContextSwitchTo(old);
	}
	location = file_location(tuples, tuples->file_size);
	BufFileWrite(tuples->file, tuple, tuple->t_len);
	tuples->file_size += tuple->t_len;
	return location;
}

/*
 * Add a copy of a tuple, in memory as long as it is within the limit, then in the file.  In a
 * parallel join, the memory is shared.  Returns its location.
 */
TupleLocation
join_tuples_put(JoinTuples *tuples, MinimalTuple tuple)
{
	if (tuples->shared_arenas ? has_space(tuples, MAXALIGN(tuple->t_len)) :
		tuples->file == NULL && !join_tuples_is_full(tuples, tuple))
		return join_tuples_add(tuples, tuple);
	return join_tuples_write(tuples, join_tuple_location(tuple));
}

/*
 * Put tuples into shared memory, and into a file that all participants in a parallel join can
 * read, once it has been exported.  Call it after join_tuples_init().
 */
void
join_tuples_share(JoinTuples *tuples, SharedArenas *arenas, FileSet *fileset, const char *kind,
				  bool is_left, int own, int n)
{
	tuples->shared_arenas = arenas;
	shared_files_init(&tuples->shared, tuples->context, fileset, kind, is_left, own, n);
}

/*
 * Set the position in a file to that of a tuple.  Returns the file.
 */
static BufFile *
seek_tuple(JoinTuples *tuples, TupleLocation location)
{
	uint64		offset = location >> 1 & ((UINT64CONST(1) << FILE_OFFSET_BITS) - 1);
	BufFile    *file = tuples->file;

	if (tuples->shared.fileset)
		file = shared_files_open(&tuples->shared, location >> (FILE_OFFSET_BITS + 1));
	if (BufFileSeek(file, 0, offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file of a join")));
	return file;
}

/*
 * Return the tuple at a location.  A tuple from the file is valid until the next call.
 * After the first call for a tuple in the file, none may be added.
 */
MinimalTuple
join_tuples_fetch(JoinTuples *tuples, TupleLocation location)
{
	BufFile    *file;
	uint32		size;

	if ((location & 3) == IN_SHARED_ARENA)
		return (MinimalTuple) shared_arenas_address(tuples->shared_arenas, location - IN_SHARED_ARENA);
	if (!(location & IN_FILE))
		return (MinimalTuple) (uintptr_t) location;
	if (location == tuples->buffered)
		return (MinimalTuple) tuples->buffer;
	tuples->buffered = NO_TUPLE;
	file = seek_tuple(tuples, location);
	read_temp_file(file, &size, sizeof(size));
	if (size > tuples->buffer_size)
	{
		if (tuples->buffer)
			pfree(tuples->buffer);
		tuples->buffer = NULL;
		tuples->buffer_size = Max(size, 1024);
		tuples->buffer = MemoryContextAllocHuge(tuples->context, tuples->buffer_size);
	}
	memcpy(tuples->buffer, &size, sizeof(size));
	read_temp_file(file, tuples->buffer + sizeof(size), size - sizeof(size));
	tuples->buffered = location;
	return (MinimalTuple) tuples->buffer;
}

/*
 * Write a tuple that the caller has fetched and changed back to its file, if it is in one.  Its file
 * must not have been exported.  Tuples that follow each other are written together, the last ones by
 * join_tuples_end_changes(): from each change to the next one, a BufFile writes and reads a block.
 */
void
join_tuples_change(JoinTuples *tuples, MinimalTuple tuple)
{
	if ((char *) tuple != tuples->buffer)
		return;
	if (tuples->nchanged + tuple->t_len > CHANGES_SIZE ||
		tuples->buffered != tuples->changed + 2 * tuples->nchanged)
		join_tuples_end_changes(tuples);
	if (tuple->t_len > CHANGES_SIZE)
	{
		BufFileWrite(seek_tuple(tuples, tuples->buffered), tuple, tuple->t_len);
		return;
	}
	if (tuples->changes == NULL)
		tuples->changes = MemoryContextAlloc(tuples->context, CHANGES_SIZE);
	if (tuples->nchanged == 0)
		tuples->changed = tuples->buffered;
	memcpy(tuples->changes + tuples->nchanged, tuple, tuple->t_len);
	tuples->nchanged += tuple->t_len;
}

/*
 * Write all changed tuples that have not been written.
 */
void
join_tuples_end_changes(JoinTuples *tuples)
{
	if (tuples->nchanged > 0)
		BufFileWrite(seek_tuple(tuples, tuples->changed), tuples->changes, tuples->nchanged);
	tuples->nchanged = 0;
}

/*
 * Free the tuples in the memory of this process.
 */
void
join_tuples_free(JoinTuples *tuples)
{
	list_free_deep(tuples->arenas);
	tuples->arenas = NIL;
	tuples->nfree = tuples->memory = 0;
}

/*
 * Close the temporary files, if there are any.  To free the memory, the caller resets or
 * deletes the context.
 */
void
join_tuples_close(JoinTuples *tuples)
{
	if (tuples->shared.fileset)
		shared_files_close(&tuples->shared);
	else if (tuples->file)
		BufFileClose(tuples->file);
	if (tuples->buffer)
		pfree(tuples->buffer);
	tuples->file = NULL;
	tuples->buffer = NULL;
}
