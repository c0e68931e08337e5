/*-------------------------------------------------------------------------
 *
 * scan_hamming.h
 *		Scans by Hamming distance: for keys within balls, or nearest first
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SCAN_HAMMING_H
#define SIMHASH_SCAN_HAMMING_H

#include "access/skey.h"

#include "index/opclass.h"
#include "index/scan/distance_queue.h"
#include "index/scan/leaf_reader.h"
#include "index/simhash/probe.h"
#include "type/simhash_type.h"

/* A match beyond the current radius. */
typedef struct FarMatch
{
	int			distance;		/* from the query, in bits */
	ItemPointerData tid;
} FarMatch;

typedef struct HammingScan
{
	LeafReader *reader;
	const HammingMethods *methods;

	/* Condition: a match lies within all balls. */
	int			nballs;
	SimHashBall *balls;			/* balls[0] is the smallest */

	/* Order: nearest to `query` first. */
	DistanceQueue *queue;		/* NULL if the search has no order */
	SimHash		query;
	int			max_radius;		/* no match has a greater distance from query */

	/* The search.  Radii and distances are in bits. */
	Design		design;
	BlockNumber nfree;			/* number of free pages of the index.
								 * InvalidBlockNumber if not read yet. */
	ProbePlans	plans;
	const ProbePlan *chosen;	/* probe plan of the current phase */
	bool		probes_ball;	/* true if the phase probes around the smallest
								 * ball, false if around query */
	int			completed_radius;	/* earlier phases have returned all matches
									 * within this distance of query, or the
									 * balls show that there are none.  -1 if
									 * neither. */
	int			radius;			/* distance of the matches returned now.  0 if
								 * the search has no order. */
	int			horizon;		/* maximum radius of the current phase, lowered
								 * when the queue drops matches */
	bool		drain_queue;	/* return the queued matches at the radius before
								 * probing further */
	Probing		probing;

	int64		nentries;		/* number of entries compared, for
								 * simhash_index_explain */

	/* Matches of the leaf read last that go into the queue. */
	int			nfar;
	FarMatch   *far;			/* length MAX_LEAF_ENTRIES.  NULL before the
								 * first search with an order. */
} HammingScan;

extern HammingScan *hamming_scan_create(LeafReader *reader, const HammingMethods *methods,
										int max_keys);
extern bool hamming_scan_begin(HammingScan *scan, const ScanKeyData *keys, int nkeys,
							   const ScanKeyData *order);
extern bool hamming_scan_next(HammingScan *scan);
extern void hamming_scan_end(HammingScan *scan);

#endif							/* SIMHASH_SCAN_HAMMING_H */
