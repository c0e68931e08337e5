/*-------------------------------------------------------------------------
 *
 * counted.h
 *		How many times rows were found, those found most often first
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_COUNTED_H
#define SIMHASH_COUNTED_H

#include "storage/itemptr.h"

typedef struct Counted Counted;

/* A row, and how many times it was found. */
typedef struct CountedRow
{
	uint64		tid;			/* tid_number */
	uint32		count;
	char		status;
} CountedRow;

extern Counted *counted_create(MemoryContext parent);
extern void counted_add(Counted *counted, const ItemPointerData *tids, int n);
extern int64 counted_in_memory(const Counted *counted);
extern uint32 counted_look_up(const Counted *counted, uint64 tid);
extern CountedRow **counted_by_place(Counted *counted);
extern void counted_rank(Counted *counted);
extern int	counted_take(Counted *counted, ItemPointerData *tids, int max, uint32 *count);
extern void counted_free(Counted *counted);

#endif							/* SIMHASH_COUNTED_H */
