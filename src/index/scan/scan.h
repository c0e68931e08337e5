/*-------------------------------------------------------------------------
 *
 * scan.h
 *		A scan, as its parts know it
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SCAN_H
#define SIMHASH_SCAN_H

#include "access/genam.h"
#include "access/relscan.h"

#include "index/opclass.h"
#include "index/scan/distance_queue.h"
#include "index/scan/prefetch.h"
#include "index/scan/tid_set.h"
#include "index/simhash/probe.h"
#include "index/tree/link.h"
#include "index/tree/page.h"
#include "type/simhash_type.h"

typedef enum ScanStage
{
	SCAN_PROBE,					/* ranges of the tables */
	SCAN_QUEUED,				/* matches in the queue, at the radius */
	SCAN_NULLS,					/* the tree of rows without words */
	SCAN_WORDS,					/* ranges with the words looked for */
	SCAN_MERGED,				/* rows with at least so many of the words */
	SCAN_SHARED,				/* rows with the most of the words first */
	SCAN_DEFERRED,				/* rows that could not be reported at once */
	SCAN_DONE
} ScanStage;

/* A match beyond the radius. */
typedef struct FarMatch
{
	int			distance;
	ItemPointerData tid;
} FarMatch;

/* A search for words as they are. */
typedef struct WordSearch
{
	MemoryContext context;
	const uint64 *words;		/* NULL: these ranges are searched */
	KeyRange	range[3];
	int			nranges;		/* or words */
	int			next;
	struct MergedSearch *merged;	/* NULL: one word is enough */
	TidSet	   *seen;			/* NULL: no row can be found twice */
} WordSearch;

typedef struct SimHashScan
{
	const Opclass *opclass;
	bool		recheck;
	WordSearch	words;
	struct SharedSearch *shared;	/* NULL if rows come as they are found */
	float8		shared_distance;	/* of the matches */

	/* What is searched: rows that meet the conditions, or rows that are NULL, or both */
	bool		want_rows;
	bool		want_nulls;
	int			nballs;
	SimHashBall *balls;			/* rows within all of them; the smallest first */

	/* The order: rows nearest to `query` first, and none beyond `max_radius` */
	DistanceQueue *queue;		/* NULL if no order is asked for */
	SimHash		query;
	int			max_radius;

	/* How */
	ScanStage	stage;
	bool		began;			/* something was asked for */
	Design		design;
	BlockNumber nfree;			/* pages, or InvalidBlockNumber: not asked yet */
	Covers		covers;
	const Cover *chosen;
	bool		around_ball;	/* searches the smallest ball, whatever the radius */
	int			completed_radius;	/* within it earlier phases have handed out all */
	int			radius;			/* rows at this distance are handed out now */
	int			horizon;		/* this phase hands out no row beyond it */
	Probing		probing;
	Prefetch	prefetch;

	/*
	 * Where: the range of keys; the bound from which on its entries are still to be
	 * read; and, if in_range, a link to the page where they go on
	 */
	KeyRange	range;
	Entry		bound;
	bool		in_range;
	PageLink	next;

	/* How much was read, for simhash_index_explain */
	int64		nprobes;
	int64		npages;			/* leaves */
	int64		nentries;		/* compared */

	/* The matches of the page read last */
	Buffer		pinned;			/* that page, or InvalidBuffer */
	int			nmatches;
	int			next_match;
	ItemPointerData matches[MAX_LEAF_ENTRIES];
	int			nfar;
	FarMatch   *far;			/* to be held back; NULL if no order is asked for */
} SimHashScan;

/*
 * What a scan key says of rows that are NULL.  Returns whether it compares others with an
 * argument.
 */
static inline bool
scan_key_compares(SimHashScan *state, const ScanKeyData *key)
{
	if (key->sk_flags & SK_SEARCHNULL)
	{
		state->want_rows = false;
		return false;
	}
	state->want_nulls = false;
	if (key->sk_flags & SK_SEARCHNOTNULL)
		return false;
	if (key->sk_flags & SK_ISNULL)
	{
		state->want_rows = false;
		return false;
	}
	return true;
}

/*
 * Whether the scan keys read so far contradict each other.
 */
static inline bool
scan_wants_nothing(const SimHashScan *state)
{
	return !state->want_rows && !state->want_nulls;
}

/* scan.c */
extern bool scan_next_matches(IndexScanDesc scan, bool keep_pin);

/* scan_hamming.c */
extern void nearest_begin(SimHashScan *state);
extern bool nearest_take_queued(SimHashScan *state);
extern bool nearest_go_farther(SimHashScan *state);

/* scan_keys.c */
extern void words_begin(IndexScanDesc scan);
extern void words_report_once(WordSearch *search, bool keep_pin);
extern void words_begin_reading(SimHashScan *state, const uint64 *words, int n);
extern bool words_read_on(IndexScanDesc scan);
extern bool words_next_range(void *search, KeyRange *range);
extern void words_end(WordSearch *search);

/* posting_merge.c */
typedef struct MergedSearch MergedSearch;
extern MergedSearch *merged_create(MemoryContext context, const uint64 *words, int n,
								   int least);
extern bool merged_take(IndexScanDesc scan, MergedSearch *search);

/* scan_overlap.c */
typedef struct SharedSearch SharedSearch;
extern void shared_begin(IndexScanDesc scan);
extern void shared_begin_for(IndexScanDesc scan, const Words *words);
extern bool shared_take(IndexScanDesc scan);
extern void shared_end(SimHashScan *state);

/* leaf_reader.c */
extern void scan_start_probing(SimHashScan *state, SimHash center, int radius);
extern bool scan_next_page(IndexScanDesc scan, bool keep_pin);

#endif							/* SIMHASH_SCAN_H */
