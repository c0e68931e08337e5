/*-------------------------------------------------------------------------
 *
 * posting_merge.h
 *		Merge postings: find TIDs that occur under at least min_match of n keys
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_POSTING_MERGE_H
#define SIMHASH_POSTING_MERGE_H

#include "index/scan/leaf_reader.h"

typedef struct PostingMerge PostingMerge;

extern PostingMerge *posting_merge_create(MemoryContext context, LeafReader *reader,
										  const uint64 *keys, int n, int min_match);
extern bool posting_merge_next(PostingMerge *merge);

#endif							/* SIMHASH_POSTING_MERGE_H */
