/*-------------------------------------------------------------------------
 *
 * join_tuples.h
 *		Tuples of an input of a join, in memory or in a temporary file
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_TUPLES_H
#define SIMHASH_JOIN_TUPLES_H

#include "access/htup_details.h"
#include "nodes/pg_list.h"
#include "storage/buffile.h"

/*
 * Where a tuple is: its address, or twice its offset in the temporary file, plus 1.
 */
typedef uint64 TupleLocation;

#define NO_TUPLE			((TupleLocation) 0)

typedef struct JoinTuples
{
	MemoryContext context;		/* of the tuples, and of the buffer */
	Size		limit;			/* tuples go to the file beyond so many bytes; 0: none does */
	Size		memory;			/* size of all blocks, in bytes */
	List	   *blocks;			/* blocks of memory */
	char	   *free;			/* free space of the current block */
	Size		nfree;			/* its size, in bytes */
	BufFile    *file;			/* NULL if all tuples are in memory */
	uint64		file_size;		/* in bytes */
	char	   *buffer;			/* the tuple that was last read from the file */
	Size		buffer_size;	/* in bytes */
} JoinTuples;

/*
 * Return the location of a tuple in memory.
 */
static inline TupleLocation
join_tuple_location(MinimalTuple tuple)
{
	return (TupleLocation) (uintptr_t) tuple;
}

extern void join_tuples_init(JoinTuples *tuples, MemoryContext context, Size limit);
extern TupleLocation join_tuples_add(JoinTuples *tuples, MinimalTuple tuple);
extern MinimalTuple join_tuples_fetch(JoinTuples *tuples, TupleLocation location);
extern void join_tuples_free(JoinTuples *tuples);
extern void join_tuples_close(JoinTuples *tuples);

#endif							/* SIMHASH_JOIN_TUPLES_H */
