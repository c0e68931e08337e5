/*
 * The scans of an index, by the file that defines them
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SCANS_H
#define SIMHASH_SCANS_H

#include "access/skey.h"
#include "utils/snapshot.h"

#include "index/opclass.h"
#include "index/simhash/probe_plan.h"
#include "index/tree/tree.h"
#include "type/simhash_type.h"

/* --- leaf_reader.c ----------------------------------------------------------- */

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

/* --- distance_queue.c -------------------------------------------------------- */

typedef struct DistanceQueue DistanceQueue;

extern DistanceQueue *distance_queue_create(MemoryContext parent);
extern void distance_queue_reset(DistanceQueue *queue);
extern void distance_queue_enlarge(DistanceQueue *queue, bool may_sort);
extern void distance_queue_free(DistanceQueue *queue);
extern void distance_queue_add(DistanceQueue *queue, int distance,
							   const ItemPointerData *tid);
extern int	distance_queue_farthest(const DistanceQueue *queue);
extern int	distance_queue_fetch(DistanceQueue *queue, int distance, ItemPointerData *tids,
								 int max);

/* --- tid_hash.c -------------------------------------------------------------- */

/* An element of the hash table.  A TidSet uses no counts. */
typedef struct TidCount
{
	uint64		tid;			/* tid_number */
	uint32		count;			/* number of hits */
	char		status;			/* for simplehash */
} TidCount;

typedef struct TidSet TidSet;

extern TidSet *tid_set_create(MemoryContext parent, bool may_defer);
extern void tid_set_exclude(TidSet *set, const ItemPointerData *tids, int n);
extern int	tid_set_keep_new(TidSet *set, ItemPointerData *tids, int n);
extern int	tid_set_fetch_deferred(TidSet *set, ItemPointerData *tids, int max);
extern void tid_set_free(TidSet *set);

typedef struct HitCounter HitCounter;

extern HitCounter *hit_counter_create(MemoryContext parent);
extern void hit_counter_add(HitCounter *counter, const ItemPointerData *tids, const int *hits,
							int n);
extern int64 hit_counter_in_memory(const HitCounter *counter);
extern uint32 hit_counter_look_up(const HitCounter *counter, uint64 tid);
extern TidCount **hit_counter_by_tid(HitCounter *counter);
extern void hit_counter_rank(HitCounter *counter);
extern int	hit_counter_fetch(HitCounter *counter, ItemPointerData *tids, int max,
							  uint32 *count);
extern void hit_counter_free(HitCounter *counter);

/* --- postings.c -------------------------------------------------------------- */

/* A cursor over the postings of a key.  It copies at most `max` TIDs at a time. */
typedef struct PostingCursor
{
	uint64		key;
	uint64	   *tid;			/* copied TIDs, each a tid_number(), ascending */
	int			max;			/* length of the array tid */
	int			n;				/* number of copied TIDs */
	int			next;			/* index in tid of the cursor's position */
	bool		more;			/* true if the key may have TIDs after the
								 * copied TIDs */
} PostingCursor;

extern void posting_cursor_init(PostingCursor *cursor, uint64 key, uint64 *tid, int max);
extern bool posting_cursor_seek(const LeafReader *reader, PostingCursor *cursor, uint64 tid);

/* Return the TID at the cursor's position, as a tid_number().  There must be one. */
static inline uint64
posting_cursor_tid(const PostingCursor *cursor)
{
	return cursor->tid[cursor->next];
}

typedef struct PostingMerge PostingMerge;

extern PostingMerge *posting_merge_create(MemoryContext context, LeafReader *reader,
										  const uint64 *keys, int n, int min_match, bool lossy);
extern bool posting_merge_next(PostingMerge *merge, int *hits);

/* --- scan_hamming.c ------------------------------------------------------------ */

typedef struct HammingScan
{
	LeafReader *reader;

	/* The condition: a match lies within all balls. */
	int			nballs;
	SimHashBall *balls;			/* balls[0] is the smallest, or contains all
								 * fingerprints if nballs is 0 */

	/* The order: matches nearest to `query` come first. */
	DistanceQueue *queue;		/* matches beyond the radius.  NULL if the search
								 * has no order. */
	SimHash		query;
	int			max_radius;		/* inclusive upper bound of the distance of a
								 * match from query */

	/* The search.  Radii and distances are in bits. */
	Design		design;
	BlockNumber nfree;			/* number of free pages of the index, or
								 * InvalidBlockNumber if not read yet */
	ProbePlans	plans;
	const ProbePlan *chosen;	/* probe plan of the current phase */
	bool		probes_ball;	/* true if the phase probes around the center of
								 * the smallest ball, false if around query */
	int			completed_radius;	/* distance from query, inclusive, up to
									 * which no match is left: earlier phases
									 * have returned all matches, or the balls
									 * allow none.  -1 if there is no such
									 * distance. */
	int			radius;			/* distance of the matches that the scan returns
								 * now.  0 if the search has no order. */
	int			last_radius;	/* last radius of the current phase, inclusive.
								 * It decreases when the queue drops matches. */
	bool		drain_queue;	/* true if the scan must return the queued
								 * matches at the radius before it probes
								 * further */
	Probing		probing;

	int64		nentries;		/* number of entries compared, for
								 * simhash_index_explain */

	/*
	 * Distances from query, in bits, of reader->tids.  Used by read_matches() only, of a
	 * search with an order.
	 */
	uint8		distance[MAX_LEAF_ENTRIES];
} HammingScan;

extern HammingScan *hamming_scan_create(LeafReader *reader, int max_keys);
extern bool hamming_scan_begin(HammingScan *scan, const ScanKeyData *keys, int nkeys,
							   const ScanKeyData *order);
extern bool hamming_scan_next(HammingScan *scan);
extern void hamming_scan_end(HammingScan *scan);

/* Key ranges of all rows of a multi-key index that are not NULL: with keys, and without. */
static const KeyRange not_null_rows[] = {
	{KEYS_TREE, 0, 0, PG_UINT64_MAX},
	{PLACEHOLDER_TREE, 0, PLACEHOLDER_EMPTY, PLACEHOLDER_EMPTY},
};

/* --- scan_overlap.c ------------------------------------------------------------ */

typedef struct OverlapScan OverlapScan;

extern OverlapScan *overlap_scan_create(MemoryContext context, LeafReader *reader,
										const KeySet *query, bool jaccard);
extern bool overlap_scan_next(OverlapScan *scan, float8 *distance);
extern void overlap_scan_end(OverlapScan *scan);

#endif							/* SIMHASH_SCANS_H */
