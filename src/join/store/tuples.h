/*
 * Tuples of an input of a join, in memory or in a temporary file
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_TUPLES_H
#define SIMHASH_TUPLES_H

#include "access/htup_details.h"
#include "nodes/pg_list.h"
#include "storage/buffile.h"

#include "compat.h"
#include "join/store/shared_arenas.h"
#include "join/store/shared_files.h"

/*
 * Location of a tuple: its address, or 2 * offset + IN_FILE if it is in the temporary file.  In a
 * parallel join, the upper bits of such an offset are the number of the participant that has
 * written the file.  If the two lowest bits are IN_SHARED_ARENA, the tuple is in shared memory.
 * The other bits are the number of the arena and the offset in it.
 */
typedef uint64 TupleLocation;

#define IN_FILE				1
#define IN_SHARED_ARENA		2

#define NO_TUPLE			((TupleLocation) 0)

/* Bits of the offset in a file. */
#define FILE_OFFSET_BITS	48

typedef struct JoinTuples
{
	MemoryContext context;		/* context of the tuples and of the buffer */
	Size		limit;			/* limit for the arenas, in bytes; 0 if there is none */
	Size		memory;			/* total size of the arenas, in bytes */
	List	   *arenas;			/* pieces of memory, in which the tuples are */
	char	   *free;			/* free space of the current arena */
	TupleLocation next;			/* location of a tuple there */
	Size		nfree;			/* size of the free space, in bytes */
	SharedArenas *shared_arenas;	/* other arenas, of a parallel join */
	BufFile    *file;			/* NULL if all tuples are in memory */
	SharedFiles shared;			/* files of all participants in a parallel join; `file` is one */
	uint64		file_size;		/* size of the file, in bytes */
	char	   *buffer;			/* copy of the tuple last read from the file */
	TupleLocation buffered;		/* location of this tuple, or NO_TUPLE */
	Size		buffer_size;	/* size of the buffer, in bytes */
	char	   *changes;		/* changed tuples to write back; NULL before the first one */
	Size		nchanged;		/* total size of these, in bytes */
	TupleLocation changed;		/* location of the first one */
} JoinTuples;

/*
 * Return the location of a tuple in memory.
 */
static inline TupleLocation
join_tuple_location(MinimalTuple tuple)
{
	return (TupleLocation) (uintptr_t) tuple;
}

/*
 * Prefetch the header and the first column of a tuple that is in memory.  Does no harm if the
 * tuple is in a file.
 */
static inline void
join_tuple_prefetch(TupleLocation location)
{
	char	   *tuple = (char *) (uintptr_t) location;

	pg_prefetch(tuple);
	pg_prefetch(tuple + MAXALIGN(SizeofMinimalTupleHeader));
}

extern void join_tuples_init(JoinTuples *tuples, MemoryContext context, Size limit);
extern void join_tuples_share(JoinTuples *tuples, SharedArenas *arenas, FileSet *fileset,
							  const char *kind, bool is_left, int own, int n);
extern bool join_tuples_is_full(JoinTuples *tuples, MinimalTuple tuple);
extern TupleLocation join_tuples_add(JoinTuples *tuples, MinimalTuple tuple);
extern TupleLocation join_tuples_put(JoinTuples *tuples, MinimalTuple tuple);
extern TupleLocation join_tuples_write(JoinTuples *tuples, TupleLocation location);
extern MinimalTuple join_tuples_fetch(JoinTuples *tuples, TupleLocation location);
extern void join_tuples_change(JoinTuples *tuples, MinimalTuple tuple);
extern void join_tuples_end_changes(JoinTuples *tuples);
extern void join_tuples_free(JoinTuples *tuples);
extern void join_tuples_close(JoinTuples *tuples);

#endif							/* SIMHASH_TUPLES_H */
