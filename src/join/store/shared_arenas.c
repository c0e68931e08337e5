/*
 * Memory that the participants in a parallel join share
 *
 * An arena belongs to the participant that has allocated it, which alone writes it.  There are at
 * most as many as the participants together may use.  A participant that gets no more goes on in
 * its files.  If the system has no memory for a new segment, dsm_create() raises an error, as in a
 * parallel hash join.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "join/store/shared_arenas.h"

/* Number of arenas for each participant, and the minimum size of an arena, in bytes. */
#define ARENAS_PER_PARTICIPANT	256
#define MIN_SHARED_ARENA		8192

/*
 * Return the size of the table.
 */
Size
shared_arenas_table_size(int nparticipants)
{
	return offsetof(SharedArenaTable, arena) +
		(Size) nparticipants * ARENAS_PER_PARTICIPANT * sizeof(dsa_pointer);
}

/*
 * Initialize the table.  Each participant may use `memory` bytes, and all of them what others
 * leave.
 */
void
shared_arenas_init(SharedArenaTable *table, int nparticipants, Size memory)
{
	Size		size = pg_nextpower2_64(Max(memory / ARENAS_PER_PARTICIPANT, MIN_SHARED_ARENA));

	table->shift = pg_leftmost_one_pos64(size);
	table->max = Min(memory / size, ARENAS_PER_PARTICIPANT) * nparticipants;
	pg_atomic_init_u32(&table->n, 0);
	memset(table->arena, 0, table->max * sizeof(dsa_pointer));
}

/*
 * Free all arenas.
 */
void
shared_arenas_free(SharedArenaTable *table, dsa_area *area)
{
	uint32		n = Min(pg_atomic_read_u32(&table->n), table->max);

	for (uint32 i = 0; i < n; i++)
		if (DsaPointerIsValid(table->arena[i]))
			dsa_free(area, table->arena[i]);
}

/*
 * Return the part of this participant, in a memory context.
 */
SharedArenas *
shared_arenas_attach(SharedArenaTable *table, dsa_area *area, MemoryContext context)
{
	SharedArenas *arenas = MemoryContextAllocZero(context, sizeof(SharedArenas));

	arenas->table = table;
	arenas->area = area;
	arenas->address = MemoryContextAllocZero(context, Max(table->max, 1) * sizeof(char *));
	return arenas;
}

/*
 * Allocate an arena, and set *i to its number.  Returns false if there is no more memory.
 */
bool
shared_arenas_add(SharedArenas *arenas, uint32 *i)
{
	SharedArenaTable *table = arenas->table;

	if (arenas->is_full || pg_atomic_read_u32(&table->n) >= table->max ||
		(*i = pg_atomic_fetch_add_u32(&table->n, 1)) >= table->max)
		return false;
	table->arena[*i] = dsa_allocate_extended(arenas->area, shared_arena_size(arenas),
											 DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	arenas->is_full = !DsaPointerIsValid(table->arena[*i]);
	arenas->used += arenas->is_full ? 0 : shared_arena_size(arenas);
	return !arenas->is_full;
}
