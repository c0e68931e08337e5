/*-------------------------------------------------------------------------
 *
 * insert.h
 *		Insertion of entries, and splits
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INSERT_H
#define SIMHASH_INSERT_H

#include "index/page.h"

/* insert.c */
extern void insert_entry(Relation index, int tree, const Entry *entry);

/* split.c */
extern void split_insert(Relation index, Buffer buffer, const Entry *entry,
						 BlockNumber child, Buffer child_buffer);
extern void split_finish_in_place(Relation index, int tree, int level,
								  const Entry *bound);
extern Buffer split_descend(Relation index, int tree, int level, const Entry *entry);

#endif							/* SIMHASH_INSERT_H */
