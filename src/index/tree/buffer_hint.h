/*
 * Buffers that contained the blocks of indexes when they were last read
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_BUFFER_HINT_H
#define SIMHASH_BUFFER_HINT_H

#include "storage/buf.h"
#include "utils/relcache.h"

extern Buffer hint_read_buffer(Relation index, BlockNumber block);
extern Buffer hint_prefetch_buffer(Relation index, BlockNumber block, int *nentries);
extern void hint_set_nentries(Relation index, BlockNumber block, int nentries);

#endif							/* SIMHASH_BUFFER_HINT_H */
