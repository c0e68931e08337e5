/*-------------------------------------------------------------------------
 *
 * probe.h
 *		Probes: the key ranges that a search reads, by a probe plan
 *
 * Pure computation: no buffers, no catalogs.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PROBE_H
#define SIMHASH_PROBE_H

#include "index/simhash/probe_plan.h"

/* A range of keys of a permuted table.  Both ends are included. */
typedef struct KeyRange
{
	int			table;			/* index of the permuted table in the design */
	int			probed;			/* index of the permuted table in the plan */
	uint64		low;
	uint64		high;
} KeyRange;

/*
 * A search in progress.  It finds all fingerprints within a radius, then may continue with
 * a larger radius.  In the i-th permuted table of the probe plan it probes the prefixes
 * that differ from the query's in more than before[i] and at most after[i] bits.
 */
typedef struct Probing
{
	const Design *design;
	const ProbePlan *plan;
	SimHash		query;
	int			at;				/* index of the permuted table in the plan */
	int			nflipped;		/* number of bits of the pattern, or -1 before
								 * the first pattern */
	uint64		pattern;		/* flipped prefix bits, as the highest bits of a
								 * key */
	int			before[DESIGN_MAX_TABLES];
	int			after[DESIGN_MAX_TABLES];
} Probing;

extern void probing_start(Probing *probing, const Design *design, const ProbePlan *plan,
						  SimHash query, int radius);
extern void probing_extend(Probing *probing, int radius);
extern bool probing_next(Probing *probing, KeyRange *range);

/*
 * Return true if the search returns a fingerprint from this permuted table, `probed` in the
 * probe plan.  The fingerprint differs from the query's in the bits of `difference`.  The
 * search has not found it within a smaller radius, and at this radius does not find it in
 * an earlier permuted table.
 */
static inline bool
probing_is_first(const Probing *probing, int probed, uint64 difference)
{
	const ProbePlan *plan = probing->plan;

	for (int i = 0; i < plan->ntables; i++)
	{
		int			reach = i < probed ? probing->after[i] : probing->before[i];

		if (i != probed && pg_popcount64(difference & plan->table[i].mask) <= reach)
			return false;
	}
	return true;
}

#endif							/* SIMHASH_PROBE_H */
