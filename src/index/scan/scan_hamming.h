/*-------------------------------------------------------------------------
 *
 * scan_hamming.h
 *		Scans for keys within balls, in order of distance if asked
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

/* A match beyond the radius. */
typedef struct FarMatch
{
	int			distance;
	ItemPointerData tid;
} FarMatch;

typedef struct HammingScan
{
	LeafReader *reader;
	const HammingMethods *methods;

	/* What is searched: rows within all balls, the smallest of which is the first */
	int			nballs;
	SimHashBall *balls;

	/* The order: rows nearest to `query` first, and none beyond `max_radius` */
	DistanceQueue *queue;		/* NULL if no order is asked for */
	SimHash		query;
	int			max_radius;

	/* How */
	Design		design;
	BlockNumber nfree;			/* pages, or InvalidBlockNumber: not read yet */
	ProbePlans	plans;
	const ProbePlan *chosen;
	bool		around_ball;	/* searches the smallest ball, whatever the radius */
	int			completed_radius;	/* within it earlier phases have returned all */
	int			radius;			/* rows at this distance are returned now */
	int			horizon;		/* this phase returns no row beyond it */
	bool		in_queue;		/* rows at the radius are taken from the queue first */
	Probing		probing;

	int64		nentries;		/* compared, for simhash_index_explain */

	/* Matches of the leaf read last that belong into the queue */
	int			nfar;
	FarMatch   *far;			/* NULL if no order was ever asked for */
} HammingScan;

extern HammingScan *hamming_scan_create(LeafReader *reader, const HammingMethods *methods,
										int max_keys);
extern bool hamming_scan_begin(HammingScan *scan, const ScanKeyData *keys, int nkeys,
							   const ScanKeyData *order);
extern bool hamming_scan_next(HammingScan *scan);
extern void hamming_scan_end(HammingScan *scan);

#endif							/* SIMHASH_SCAN_HAMMING_H */
