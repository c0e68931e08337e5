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

#include "index/kind.h"
#include "index/scan/held.h"
#include "index/scan/prefetch.h"
#include "index/simhash/probe.h"
#include "index/tree/page.h"
#include "type/simhash.h"

typedef enum ScanStage
{
	SCAN_PROBE,					/* ranges of the tables */
	SCAN_HELD,					/* matches held back, at the radius */
	SCAN_NULLS,					/* the tree of NULLs */
	SCAN_DONE
} ScanStage;

/* A match beyond the radius. */
typedef struct FarMatch
{
	int			distance;
	ItemPointerData tid;
	uint64		tiebreak;		/* as held_add wants it */
} FarMatch;

typedef struct SimHashScan
{
	const IndexKind *kind;

	/* What is searched: rows within all of the balls, or rows that are NULL, or both */
	int			nballs;
	SimHashBall *balls;			/* the smallest first */
	bool		want_rows;
	bool		want_nulls;

	/* The order: rows nearest to `query` first, and none beyond `max_radius` */
	Held	   *held;			/* NULL if no order is asked for */
	int			order_key;		/* which of the scan's ORDER BY keys it is */
	SimHash		query;
	int			max_radius;

	/* Where the scan sorts all: of equally near rows, those nearest to these first */
	bool		sort_all;
	int			ntiebreaks;
	SimHash		tiebreak[MAX_TIEBREAKS];

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

/* scan.c */
extern bool scan_next_matches(IndexScanDesc scan, bool keep_pin);

/* scan_nearest.c */
extern void nearest_begin(SimHashScan *state);
extern bool nearest_take_held(SimHashScan *state);
extern bool nearest_go_farther(SimHashScan *state);

/* scan_leaf.c */
extern void scan_start_probing(SimHashScan *state, SimHash center, int radius);
extern bool scan_next_page(IndexScanDesc scan, bool keep_pin);

#endif							/* SIMHASH_SCAN_H */
