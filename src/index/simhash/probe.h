/*
 * Probes: the key ranges that a search reads, by a probe plan
 *
 * Pure computation: no buffers, no catalogs.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PROBE_H
#define SIMHASH_PROBE_H

#include "index/simhash/probe_plan.h"

/* A range of keys of a permuted table: a probe. */
typedef struct KeyRange
{
	int			table;			/* index of the permuted table in the design */
	int			probed;			/* index of the permuted table in the plan */
	uint64		low;			/* lowest key of the range, inclusive */
	uint64		high;			/* highest key of the range, inclusive */
} KeyRange;

/*
 * A search in progress.  It finds all fingerprints within a radius, and may then continue
 * with a larger radius.  In the i-th permuted table of the probe plan, the search probes
 * the prefixes that differ from the query's prefix in more than before[i] and at most
 * after[i] bits.  Both numbers may be -1.
 */
typedef struct Probing
{
	const Design *design;
	const ProbePlan *plan;
	SimHash		query;
	int			at;				/* index in the plan of the permuted table that is
								 * probed now */
	int			nflipped;		/* number of bits set in pattern.  before[at]
								 * before the first pattern. */
	uint64		pattern;		/* flipped prefix bits, as the highest bits of a
								 * key */
	int			before[DESIGN_MAX_TABLES];	/* for the previous radius, in bits; -1 if
											 * there was none */
	int			after[DESIGN_MAX_TABLES];	/* for this radius, in bits */
} Probing;

extern void probing_start(Probing *probing, const Design *design, const ProbePlan *plan,
						  SimHash query, int radius);
extern void probing_extend(Probing *probing, int radius);
extern bool probing_next(Probing *probing, KeyRange *range);

/*
 * Return true if the search finds a fingerprint first in the permuted table with index
 * `probed` in the probe plan.  That is so unless the search has found the fingerprint
 * within a smaller radius, or finds it in an earlier permuted table at this radius.
 * `difference` has the bits in which the fingerprint and the query differ.
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
