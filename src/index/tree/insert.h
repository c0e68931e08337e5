/*-------------------------------------------------------------------------
 *
 * insert.h
 *		Insertion of the entries of a row
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INSERT_H
#define SIMHASH_INSERT_H

#include "storage/itemptr.h"
#include "utils/relcache.h"

extern void insert_keys(Relation index, const uint64 *keys, int n, ItemPointer tid);
extern void insert_placeholder(Relation index, uint64 placeholder, ItemPointer tid);

#endif							/* SIMHASH_INSERT_H */
