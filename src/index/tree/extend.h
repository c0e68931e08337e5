/*
 * Extending an index
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_EXTEND_H
#define SIMHASH_EXTEND_H

#include "storage/bufmgr.h"
#include "utils/relcache.h"

extern Buffer page_new_buffer(Relation index);
extern BlockNumber page_extend(Relation index, BlockNumber n);

#endif							/* SIMHASH_EXTEND_H */
