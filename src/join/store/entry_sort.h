/*-------------------------------------------------------------------------
 *
 * entry_sort.h
 *		Sorts entries by hash value, then by key
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ENTRY_SORT_H
#define SIMHASH_ENTRY_SORT_H

#include "join/store/entries.h"

extern void join_sort(JoinEntry *entry, uint32 n);

#endif							/* SIMHASH_ENTRY_SORT_H */
