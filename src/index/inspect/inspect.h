/*-------------------------------------------------------------------------
 *
 * inspect.h
 *		Opening an index for the functions that look at it as a whole
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INSPECT_H
#define SIMHASH_INSPECT_H

#include "index/tree/meta.h"
#include "index/tree/page.h"

/*
 * An index and its table, opened by a user who need not own them, and the user's
 * identity and settings, to go back to: in between, the owner is the current user.
 */
typedef struct OpenIndex
{
	Relation	heap;
	Relation	index;
	Oid			save_userid;
	int			save_sec_context;
	int			save_nestlevel;
} OpenIndex;

/*
 * Called with a copy of each page of a level, from left to right.  No page is locked:
 * a visitor may sort, write to disk, or be cancelled.
 */
typedef void (*PageVisitor) (void *arg, Relation index, BlockNumber block, Page page);

extern Relation inspect_open_index(OpenIndex *open, Oid index_oid, bool for_monitors);
extern void inspect_close_index(OpenIndex *open);
extern BlockNumber inspect_copy_page(Buffer buffer, Page copy);
extern void inspect_walk_level(Relation index, int tree, int level,
							   PageVisitor visit, void *arg);

/* check_heap.c */
extern void check_against_heap(Relation heap, Relation index);

#endif							/* SIMHASH_INSPECT_H */
