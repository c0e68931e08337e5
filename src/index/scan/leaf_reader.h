/*-------------------------------------------------------------------------
 *
 * leaf_reader.h
 *		Read ranges of keys, leaf by leaf
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
 * Add the TIDs of matching entries of a locked leaf to reader->tids.  The function checks
 * entries from..to-1 only, and skips keys above reader->range.high.  If bound_met is false,
 * it also skips entries for which leaf_reader_meets_bound returns false.
 */
typedef void (*CollectMatches) (LeafReader *reader, void *search, Buffer buffer, int from,
								int to, bool bound_met);

struct LeafReader
{
	Relation	index;
	Snapshot	snapshot;
	bool		keep_pin;		/* keep a leaf with matches pinned until the next
								 * leaf is read */

	/* The search: its ranges, and the matches in them. */
	NextRange	next_range;
	CollectMatches collect;		/* NULL if all entries of the ranges match */
	void	   *search;			/* argument of next_range and collect */
	Prefetch	prefetch;

	/* Array of leaf_reader_start_keys or leaf_reader_start_ranges. */
	const uint64 *keys;			/* NULL if the array contains ranges */
	const KeyRange *ranges;		/* NULL if the array contains keys */
	int			nranges;		/* length of the array */
	int			next;			/* index of the next element to read */

	/* Current position. */
	KeyRange	range;			/* range that is read */
	Entry		bound;			/* all entries of the range below the bound have
								 * been read */
	bool		in_range;		/* the range continues at `link` */
	PageLink	link;			/* right-link of the leaf read last */

	/* Counts for simhash_index_explain. */
	int64		nranges_read;
	int64		nleaves;

	/*
	 * TIDs that the scan returns next: the matches of the leaf read last, or TIDs that the
	 * scan has stored here itself.
	 */
	Buffer		pinned;			/* leaf read last if it is pinned, else
								 * InvalidBuffer */
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
 * Return true if the i-th entry of a leaf is not below the reader's bound.  An entry below
 * the bound is outside of the range, or has been read already.  A leaf may contain entries
 * read already if the next leaf was merged into it after the reader had read it.
 */
static inline bool
leaf_reader_meets_bound(const LeafReader *reader, Buffer buffer, int i)
{
	Entry		entry = page_entry(BufferGetPage(buffer), i);

	return entry_compare(&entry, &reader->bound) >= 0;
}

#endif							/* SIMHASH_LEAF_READER_H */
