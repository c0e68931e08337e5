/*-------------------------------------------------------------------------
 *
 * leaf_reader.h
 *		Reading ranges of keys, leaf by leaf
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_LEAF_READER_H
#define SIMHASH_LEAF_READER_H

#include "utils/snapshot.h"

#include "index/scan/prefetch.h"
#include "index/tree/page.h"

typedef struct LeafReader LeafReader;

/*
 * Add the TIDs of a search's matches among the entries from `from` to `to` of a leaf, which
 * is locked.  Unless all_new, skip entries that leaf_reader_is_new says no to.
 */
typedef void (*CollectMatches) (LeafReader *reader, void *search, Buffer buffer, int from,
								int to, bool all_new);

struct LeafReader
{
	Relation	index;
	Snapshot	snapshot;
	bool		keep_pin;		/* of a leaf with matches, until the next one is read */

	/* What is read: the ranges that next_range returns, and which of their entries */
	NextRange	next_range;
	CollectMatches collect;		/* NULL: all */
	void	   *search;			/* argument of both */
	Prefetch	prefetch;

	/* The search of leaf_reader_start_keys and leaf_reader_start_ranges */
	const uint64 *keys;
	const KeyRange *ranges;
	int			nranges;		/* or keys */
	int			next;

	/*
	 * Where it is: the range of keys; the bound from which on its entries are still to be
	 * read; and, if in_range, a link to the page where they go on
	 */
	KeyRange	range;
	Entry		bound;
	bool		in_range;
	PageLink	link;

	/* How much was read, for simhash_index_explain */
	int64		nranges_read;
	int64		nleaves;

	/*
	 * The TIDs that the scan returns next: those of the leaf read last, or others that a
	 * scan puts here
	 */
	Buffer		pinned;			/* that leaf, or InvalidBuffer */
	int			ntids;
	ItemPointerData tids[MAX_LEAF_ENTRIES];
};

extern void leaf_reader_init(LeafReader *reader, Relation index);
extern void leaf_reader_reset(LeafReader *reader, Snapshot snapshot);
extern void leaf_reader_release(LeafReader *reader);
extern void leaf_reader_start(LeafReader *reader, NextRange next_range,
							  CollectMatches collect, void *search);
extern void leaf_reader_start_keys(LeafReader *reader, const uint64 *keys, int n);
extern void leaf_reader_start_ranges(LeafReader *reader, const KeyRange *ranges, int n);
extern bool leaf_reader_read(LeafReader *reader);
extern bool leaf_reader_next(LeafReader *reader);

/*
 * Return true if an entry of a leaf has not been read before.  It may have been: the page
 * that the reader wanted to go on with may have been merged into one that it has read.
 */
static inline bool
leaf_reader_is_new(const LeafReader *reader, Buffer buffer, int i)
{
	Entry		entry = page_entry(BufferGetPage(buffer), i);

	return entry_compare(&entry, &reader->bound) >= 0;
}

#endif							/* SIMHASH_LEAF_READER_H */
