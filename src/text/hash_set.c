/*-------------------------------------------------------------------------
 *
 * hash_set.c
 *		A set of 64-bit hashes
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "text/hash_set.h"

static void
set_slots(HashSet *set, uint64 *slots, int bits)
{
	set->slots = slots;
	set->bits = bits;
	set->limit = hash_set_size(set) / 4 * 3;
}

void
hash_set_init(HashSet *set)
{
	salt_init();
	memset(set->own_slots, 0, sizeof(set->own_slots));
	set_slots(set, set->own_slots, HASH_SET_SMALL_BITS);
	set->count = 0;
	set->has_zero = false;
}

void
hash_set_free(HashSet *set)
{
	if (set->slots != set->own_slots)
		pfree(set->slots);
}

/*
 * Double the slots.
 */
void
hash_set_grow(HashSet *set)
{
	uint64	   *old = set->slots;
	uint64		old_size = hash_set_size(set);

	CHECK_FOR_INTERRUPTS();
	set_slots(set, palloc_extended(2 * old_size * sizeof(uint64),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO),
			  set->bits + 1);
	for (uint64 i = 0; i < old_size; i++)
		if (old[i] != 0)
			*hash_set_slot(set, old[i]) = old[i];
	if (old != set->own_slots)
		pfree(old);
}
