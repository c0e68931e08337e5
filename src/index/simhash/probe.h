/*-------------------------------------------------------------------------
 *
 * probe.h
 *		Probes: the ranges of keys that a search looks at, by a probe plan
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

/* A range of the keys of a permuted table, inclusive. */
typedef struct KeyRange
{
	int			table;			/* index of the permuted table in the design */
	int			probed;			/* its index in the probe plan */
	uint64		low;
	uint64		high;
} KeyRange;

/*
 * A search in progress.  It finds everything within a radius, then may go on to
 * the next one: in each permuted table of the probe plan, prefixes that differ from the
 * query's in more than before[i] bits and at most after[i] are still to be looked at.
 */
typedef struct Probing
{
	const Design *design;
	const ProbePlan *plan;
	SimHash		query;
	int			at;				/* index of the permuted table in the plan */
	int			nflipped;		/* bits of the pattern, or -1 before the first one */
	uint64		pattern;		/* prefix bits flipped, as the highest of a key */
	int			before[DESIGN_MAX_TABLES];
	int			after[DESIGN_MAX_TABLES];
} Probing;

extern void probing_start(Probing *probing, const Design *design, const ProbePlan *plan,
						  SimHash query, int radius);
extern void probing_extend(Probing *probing, int radius);
extern bool probing_next(Probing *probing, KeyRange *range);

/*
 * Whether a fingerprint that differs from the query's by the bits of
 * `difference`, found in a permuted table of the probe plan, was not found before, nor
 * will be found in an earlier one.
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
