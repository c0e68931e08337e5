/*
 * What a scan by Hamming distance reads, from its radius and the design
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_HAMMING_COST_H
#define SIMHASH_HAMMING_COST_H

#include "nodes/pathnodes.h"

/* Estimates of what a scan reads. */
typedef struct ScanEstimate
{
	double		descents;
	double		pages;			/* number of leaf pages that are read */
	double		entries;
	double		max_fraction;	/* the scan reads no more than this fraction of the index */
} ScanEstimate;

extern bool hamming_cost_estimate(PlannerInfo *root, IndexPath *path, Selectivity selectivity,
								  ScanEstimate *first, ScanEstimate *all);

#endif							/* SIMHASH_HAMMING_COST_H */
