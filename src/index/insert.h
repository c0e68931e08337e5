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
extern void split_finish(Relation index, Buffer buffer);

static inline bool
page_split_is_incomplete(Page page)
{
	return (TreePageGetOpaque(page)->flags & TREE_INCOMPLETE_SPLIT) != 0;
}

#endif							/* SIMHASH_INSERT_H */
