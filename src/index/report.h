/*-------------------------------------------------------------------------
 *
 * report.h
 *		Opening an index for the functions that look at it as a whole
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_REPORT_H
#define SIMHASH_REPORT_H

#include "index/meta.h"
#include "index/page.h"

/*
 * Called with each page of a level, from left to right; the buffer is locked
 * in share mode.
 */
typedef void (*PageVisitor) (void *arg, Relation index, Buffer buffer);

extern Relation report_open_index(Oid index_oid, bool for_monitors);
extern BlockNumber report_leftmost(Relation index, const IndexMeta *meta,
								   int tree, int level);
extern void report_walk_level(Relation index, int tree, int level,
							  BlockNumber leftmost, PageVisitor visit, void *arg);

/* check_heap.c */
extern void check_against_heap(Relation heap, Relation index);

#endif							/* SIMHASH_REPORT_H */
