/*
 * Splits of pages
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SPLIT_H
#define SIMHASH_SPLIT_H

#include "index/tree/page.h"

extern void split_insert(Relation index, Buffer buffer, const Entry *entry,
						 BlockNumber child, Buffer child_buffer);
extern void split_finish_in_place(Relation index, int tree, int level,
								  const Entry *high_key);
extern Buffer split_descend(Relation index, int tree, int level, const Entry *entry);

#endif							/* SIMHASH_SPLIT_H */
