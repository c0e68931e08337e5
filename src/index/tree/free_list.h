/*
 * The free list: pages that are in no tree
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_FREE_LIST_H
#define SIMHASH_FREE_LIST_H

#include "index/tree/meta.h"
#include "index/tree/page.h"

extern Buffer free_list_take(Relation index, Buffer meta_buffer);
extern void free_list_remove(MetaPageData *meta, Page page);
extern void free_list_add(MetaPageData *meta, Page page, BlockNumber block);
extern void free_list_check(Relation index);

#endif							/* SIMHASH_FREE_LIST_H */
