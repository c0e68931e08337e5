/*
 * The three scans, by the file that defines them
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SCANS_H
#define SIMHASH_SCANS_H

#include "access/skey.h"

#include "index/opclass.h"
#include "index/scan/distance_queue.h"
#include "index/scan/leaf_reader.h"
#include "index/simhash/probe_plan.h"
#include "type/simhash_type.h"

/* --- scan_hamming.c ------------------------------------------------------------ */

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

	/* The condition: a match lies within all balls. */
	int			nballs;
	SimHashBall *balls;			/* balls[0] is the smallest */

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
	 * Matches beyond the radius in the current leaf.  They are added to the queue after
	 * the leaf has been unlocked.
	 */
	int			nfar;
	FarMatch   *far;			/* array of length MAX_LEAF_ENTRIES.  NULL
								 * before the first search with an order. */
} HammingScan;

extern HammingScan *hamming_scan_create(LeafReader *reader, const HammingMethods *methods,
										int max_keys);
extern bool hamming_scan_begin(HammingScan *scan, const ScanKeyData *keys, int nkeys,
							   const ScanKeyData *order);
extern bool hamming_scan_next(HammingScan *scan);
extern void hamming_scan_end(HammingScan *scan);

/* --- scan_keys.c --------------------------------------------------------------- */

typedef struct KeysScan KeysScan;

extern KeysScan *keys_scan_create(MemoryContext context, LeafReader *reader,
								  const KeySet *query);
extern void keys_scan_return_once(KeysScan *scan, bool may_defer);
extern bool keys_scan_next(KeysScan *scan);
extern void keys_scan_end(KeysScan *scan);

/* --- scan_overlap.c ------------------------------------------------------------ */

typedef struct OverlapScan OverlapScan;

extern OverlapScan *overlap_scan_create(MemoryContext context, LeafReader *reader,
										const KeySet *query, bool jaccard);
extern bool overlap_scan_next(OverlapScan *scan, float8 *distance);
extern void overlap_scan_end(OverlapScan *scan);

#endif							/* SIMHASH_SCANS_H */
