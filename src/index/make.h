/*-------------------------------------------------------------------------
 *
 * make.h
 *		What all values of an index have in common
 *
 * Some values can be compared only with those that were made alike, and it is an error
 * to compare others.  An index has one make, so that a search of it and a sequential
 * scan never differ: that of the first value.  What a make is, a number that is not 0,
 * the operator class knows.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_MAKE_H
#define SIMHASH_MAKE_H

#include "port/atomics.h"
#include "utils/relcache.h"

#include "index/opclass.h"

/*
 * The make of dead rows that a build has found, which older snapshots may still see; 0:
 * there were none.
 */
#define MAKES_DIFFER		PG_UINT64_MAX

static inline void
make_add_dead(uint64 *dead, uint64 make)
{
	if (*dead == 0)
		*dead = make;
	else if (make != 0 && *dead != make)
		*dead = MAKES_DIFFER;
}

/*
 * Whether a snapshot that sees dead rows must not use the index: since a search of it
 * would be an error where a sequential scan is none, or the other way round.
 */
static inline bool
make_hides_dead(uint64 settled, uint64 dead)
{
	return dead != 0 && dead != settled;
}

extern uint64 make_of_index(Oid index);
extern void make_check_stored(Relation index, const Opclass *opclass);
extern void make_check_search(Relation index, const Opclass *opclass, uint64 make);
extern void make_check_insertion(Relation index, const Opclass *opclass, uint64 make);
extern void make_check_build(Relation index, const Opclass *opclass,
							 pg_atomic_uint64 *settled, uint64 make);

#endif							/* SIMHASH_MAKE_H */
