/*-------------------------------------------------------------------------
 *
 * join_tuples.c
 *		Tuples of an input of a join, in memory or in a temporary file
 *
 * A join fetches tuples in any order.  A tuplestore cannot do that, since its tuples have
 * no addresses.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "utils/memutils.h"

#include "join/join_tuples.h"

/* Size of a block of tuples in memory, in bytes. */
#define BLOCK_SIZE			(64 * 1024)

/*
 * Initialize an empty set of tuples.  Tuples beyond `limit` bytes go to a temporary file.
 * If limit is 0, all tuples stay in memory.  To free the memory, the caller resets or
 * deletes the context.
 */
void
join_tuples_init(JoinTuples *tuples, MemoryContext context, Size limit)
{
	memset(tuples, 0, sizeof(JoinTuples));
	tuples->context = context;
	tuples->limit = limit;
}

/*
 * Allocate `size` bytes for a tuple.  Returns NULL if the limit is reached.
 */
static char *
allocate(JoinTuples *tuples, Size size)
{
	char	   *space;

	if (tuples->nfree < size)
	{
		Size		block = Max(size, BLOCK_SIZE);
		MemoryContext old;

		if (tuples->file || (tuples->limit > 0 && tuples->memory + block > tuples->limit))
			return NULL;
		tuples->free = MemoryContextAllocHuge(tuples->context, block);
		tuples->nfree = block;
		old = MemoryContextSwitchTo(tuples->context);
		tuples->blocks = lappend(tuples->blocks, tuples->free);
		MemoryContextSwitchTo(old);
		tuples->memory += block;
	}
	space = tuples->free;
	tuples->free += size;
	tuples->nfree -= size;
	return space;
}

/*
 * Create a temporary file, whose buffer is in a memory context.
 */
BufFile *
join_create_file(MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	BufFile    *file;

	PrepareTempTablespaces();
	file = BufFileCreateTemp(false);
	MemoryContextSwitchTo(old);
	return file;
}

/*
 * Add a copy of a tuple.  Returns its location.
 */
TupleLocation
join_tuples_add(JoinTuples *tuples, MinimalTuple tuple)
{
	Size		size = MAXALIGN(tuple->t_len);
	char	   *space = allocate(tuples, size);
	TupleLocation location;

	if (space)
	{
		memcpy(space, tuple, tuple->t_len);
		return join_tuple_location((MinimalTuple) space);
	}
	if (tuples->file == NULL)
		tuples->file = join_create_file(tuples->context);
	location = tuples->file_size << 1 | 1;
	BufFileWrite(tuples->file, tuple, tuple->t_len);
	tuples->file_size += tuple->t_len;
	return location;
}

/*
 * Return the tuple at a location.  A tuple from the file is valid until the next call.
 * After the first call, no tuple may be added.
 */
MinimalTuple
join_tuples_fetch(JoinTuples *tuples, TupleLocation location)
{
	uint32		size;

	if (!(location & 1))
		return (MinimalTuple) (uintptr_t) location;
	if (BufFileSeek(tuples->file, 0, location >> 1, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file of a join: %m")));
	read_temp_file(tuples->file, &size, sizeof(size));
	if (size > tuples->buffer_size)
	{
		if (tuples->buffer)
			pfree(tuples->buffer);
		tuples->buffer = NULL;
		tuples->buffer_size = Max(size, 1024);
		tuples->buffer = MemoryContextAllocHuge(tuples->context, tuples->buffer_size);
	}
	memcpy(tuples->buffer, &size, sizeof(size));
	read_temp_file(tuples->file, tuples->buffer + sizeof(size), size - sizeof(size));
	return (MinimalTuple) tuples->buffer;
}

/*
 * Free the tuples in memory.
 */
void
join_tuples_free(JoinTuples *tuples)
{
	list_free_deep(tuples->blocks);
	tuples->blocks = NIL;
	tuples->nfree = tuples->memory = 0;
}

/*
 * Close the temporary file, if there is one.  To free the memory, the caller resets or
 * deletes the context.
 */
void
join_tuples_close(JoinTuples *tuples)
{
	if (tuples->file)
		BufFileClose(tuples->file);
	tuples->file = NULL;
}
