/*
 * Opening an index and walking its levels, for functions that read a whole index
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_INSPECT_H
#define SIMHASH_INSPECT_H

#include "index/tree/tree.h"

/*
 * An open index and its table.  While they are open, the current user is the table's
 * owner.  inspect_close_index restores the caller's user and settings from the other
 * fields.
 */
typedef struct OpenIndex
{
	Relation	heap;
	Relation	index;
	Oid			save_userid;	/* the caller's user */
	int			save_sec_context;	/* the caller's security context */
	int			save_nestlevel; /* GUC nest level of the changed settings */
} OpenIndex;

/*
 * Visit a copy of a page.  inspect_walk_level calls this function for each page of a level,
 * from left to right.  The caller holds no lock of a page meanwhile.  So a visitor may
 * sort, write to disk, or be cancelled.
 */
typedef void (*PageVisitor) (void *arg, Page page);

extern Relation inspect_open_index(OpenIndex *open, Oid index_oid, bool for_monitors);
extern void inspect_close_index(OpenIndex *open);
extern void inspect_walk_level(Relation index, int tree, int level,
							   PageVisitor visit, void *arg);

/* check_heap.c */
extern void check_against_heap(Relation heap, Relation index);

#endif							/* SIMHASH_INSPECT_H */
