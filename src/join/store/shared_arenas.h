/*
 * Memory that the participants in a parallel join share
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SHARED_ARENAS_H
#define SIMHASH_SHARED_ARENAS_H

#include "port/atomics.h"
#include "utils/dsa.h"

/* The part that is in shared memory.  All arenas have one size. */
typedef struct SharedArenaTable
{
	int			shift;			/* binary logarithm of the size of an arena, in bytes */
	uint32		max;			/* maximum number of arenas */
	pg_atomic_uint32 n;			/* number of arenas, or more if some could not be allocated */
	dsa_pointer arena[FLEXIBLE_ARRAY_MEMBER];
} SharedArenaTable;

/* The part of a participant. */
typedef struct SharedArenas
{
	SharedArenaTable *table;
	dsa_area   *area;
	Size		used;			/* total size of the arenas of this participant, in bytes */
	bool		is_full;		/* true if no more can be allocated */
	char	  **address;		/* of each arena; NULL if it is not known yet */
} SharedArenas;

static inline Size
shared_arena_size(const SharedArenas *arenas)
{
	return (Size) 1 << arenas->table->shift;
}

/*
 * Return the address of an arena.
 */
static inline char *
shared_arena(SharedArenas *arenas, uint32 i)
{
	if (arenas->address[i] == NULL)
		arenas->address[i] = dsa_get_address(arenas->area, arenas->table->arena[i]);
	return arenas->address[i];
}

/*
 * Return the address of an offset in all arenas together.
 */
static inline char *
shared_arenas_address(SharedArenas *arenas, uint64 offset)
{
	return shared_arena(arenas, offset >> arenas->table->shift) +
		(offset & (shared_arena_size(arenas) - 1));
}

extern Size shared_arenas_table_size(int nparticipants);
extern void shared_arenas_init(SharedArenaTable *table, int nparticipants, Size memory);
extern void shared_arenas_free(SharedArenaTable *table, dsa_area *area);
extern SharedArenas *shared_arenas_attach(SharedArenaTable *table, dsa_area *area,
										  MemoryContext context);
extern bool shared_arenas_add(SharedArenas *arenas, uint32 *i);

#endif							/* SIMHASH_SHARED_ARENAS_H */
