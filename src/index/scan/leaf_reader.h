/*
 * Read ranges of keys, leaf by leaf
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_LEAF_READER_H
#define SIMHASH_LEAF_READER_H

#include "utils/snapshot.h"

#include "index/simhash/probe_plan.h"
#include "index/tree/tree.h"

/* Maximum number of probes to prefetch. */
#define PREFETCH_MAX	64

/* A probe: a range to read, and a link to the first leaf of the range. */
typedef struct PrefetchProbe
{
	KeyRange	range;
	PageLink	leaf;			/* downlink of the first leaf.  leaf.block is
								 * InvalidBlockNumber if the downlink is
								 * unknown. */
} PrefetchProbe;

/* A ring of probes: the next probe, and the probes after it, which are prefetched. */
typedef struct Prefetch
{
	int			maximum;		/* number of probes to prefetch in this scan */
	int			target;			/* number of probes to prefetch now: 0 before the
								 * first probe of a search, then `maximum` */
	int			first;			/* index of the next probe in the array */
	int			n;				/* number of probes in the ring */
	PrefetchProbe probe[PREFETCH_MAX + 1];
} Prefetch;

/* Set *range to the next range of a search.  Returns false after the last range. */
typedef bool (*NextRange) (void *search, KeyRange *range);

typedef struct LeafReader LeafReader;

/*
 * Add the TIDs of matching entries of a locked leaf to reader->tids.  Checks only the
 * entries from position `from` to `to` - 1, and skips keys above reader->range.high.  If
 * bound_met is false, also skips entries for which leaf_reader_meets_bound() returns false.
 */
typedef void (*CollectMatches) (LeafReader *reader, void *search, Buffer buffer, int from,
								int to, bool bound_met);

struct LeafReader
{
	Relation	index;
	Snapshot	snapshot;
	bool		keep_pin;		/* true if a leaf with matches stays pinned
								 * until the next leaf is read */

	/* The search: its ranges, and the matches in them. */
	NextRange	next_range;
	CollectMatches collect;
	void	   *search;			/* argument of next_range and collect */
	Prefetch	prefetch;

	/* The array to read, after leaf_reader_start_keys() or leaf_reader_start_ranges(). */
	const uint64 *keys;			/* keys to read, or NULL if ranges are read */
	const KeyRange *ranges;		/* ranges to read, or NULL if keys are read */
	int			nranges;		/* number of keys or ranges */
	int			next;			/* index of the next key or range to read */

	/* Current position. */
	KeyRange	range;			/* the range that is being read */
	Entry		bound;			/* inclusive lower bound of the entries of the
								 * range that are still to be read */
	bool		in_range;		/* true if the range continues at `link` */
	PageLink	link;			/* right-link of the leaf read last.  Valid if
								 * in_range is true. */

	/* Counts for simhash_index_explain. */
	int64		nranges_read;
	int64		nleaves;

	/*
	 * The TIDs that the scan returns next.  These are the matches of the leaf read last,
	 * or TIDs that the scan itself has stored here.
	 */
	Buffer		pinned;			/* the leaf read last if it is pinned, else
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
 * Return true if the i-th entry of a leaf is not below the reader's bound.  An entry
 * below the bound is outside of the range, or has been read already.  A leaf contains
 * entries that were read already if it was merged with its right sibling after the reader
 * had read it.
 */
static inline bool
leaf_reader_meets_bound(const LeafReader *reader, Buffer buffer, int i)
{
	Entry		entry = page_entry(BufferGetPage(buffer), i);

	return entry_compare(&entry, &reader->bound) >= 0;
}

#endif							/* SIMHASH_LEAF_READER_H */
