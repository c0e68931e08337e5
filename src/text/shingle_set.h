/*-------------------------------------------------------------------------
 *
 * shingle_set.h
 *		A set of shingles
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SHINGLE_SET_H
#define SIMHASH_SHINGLE_SET_H

typedef struct SetShingle SetShingle;
typedef struct SetBlock SetBlock;

typedef struct ShingleSet
{
	MemoryContext context;
	size_t	   *allocated;		/* by this set and others of the same budget */
	SetShingle **slots;			/* NULL where a slot is free */
	int			slot_bits;		/* of a slot's number */
	uint32		count;
	SetBlock   *blocks;			/* the shingles, last block first */
} ShingleSet;

extern void shingle_set_init(ShingleSet *set, MemoryContext context,
							 size_t *allocated);
extern void shingle_set_clear(ShingleSet *set);
extern void shingle_set_free(ShingleSet *set);
extern void shingle_set_add(ShingleSet *set, const char *bytes, size_t length);
extern uint32 shingle_set_shared(const ShingleSet *a, const ShingleSet *b);

#endif							/* SIMHASH_SHINGLE_SET_H */
