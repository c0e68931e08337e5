/*-------------------------------------------------------------------------
 *
 * join_sort.h
 *		Sorts entries by hash value, then by fingerprint
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_SORT_H
#define SIMHASH_JOIN_SORT_H

#include "join/join_entries.h"

extern void join_sort(JoinEntry *entry, uint32 n);

#endif							/* SIMHASH_JOIN_SORT_H */
