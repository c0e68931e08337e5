/*
 * Descents in a tree
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_DESCEND_H
#define SIMHASH_DESCEND_H

#include "index/tree/link.h"
#include "index/tree/page.h"

extern Buffer descend_arrive(Relation index, int tree, int level,
							 const Entry *entry, int lock);
extern Buffer descend_to(Relation index, int tree, int level,
						 const Entry *entry, int lock);
extern Buffer descend_for_insertion(Relation index, int tree, int level,
									const Entry *entry);
extern Buffer descend_follow(Relation index, const PageLink *link, const Entry *entry);
extern int	descend_find_leaves(Relation index, int tree, uint64 low, uint64 high,
								PageLink *leaves, int max, uint64 *end);
extern int	guess_position(uint64 first, uint64 end, int n, uint64 key);
extern int	find_child(Page page, const Entry *entry);
extern int	page_search(Page page, int n, const Entry *entry);
extern int	page_search_from(Page page, int n, const Entry *entry, int at);

#endif							/* SIMHASH_DESCEND_H */
