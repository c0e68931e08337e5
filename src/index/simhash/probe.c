/*
 * Probes: the key ranges that a search reads, by a probe plan
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "bits.h"
#include "index/simhash/probe.h"

/*
 * Return the last pattern with nflipped bits set: the highest bits.  Returns 0 if nflipped
 * is 0 or -1.
 */
static inline uint64
last_pattern(int nflipped)
{
	return nflipped <= 0 ? 0 : ~UINT64CONST(0) << (SIMHASH_BITS - nflipped);
}

/*
 * Start to probe the permuted table with index `at` in the probe plan.
 */
static void
probe_table(Probing *probing, int at)
{
	probing->at = at;
	probing->nflipped = probing->before[at];
	probing->pattern = last_pattern(probing->nflipped);
}

/*
 * Start a search for all fingerprints within a radius, 0 to 64 bits.
 */
void
probing_start(Probing *probing, const Design *design, const ProbePlan *plan,
			  SimHash query, int radius)
{
	probing->design = design;
	probing->plan = plan;
	probing->query = query;
	for (int i = 0; i < plan->ntables; i++)
		probing->after[i] = -1;
	probing_extend(probing, radius);
}

/*
 * Continue a search with a larger radius.  Call this only after probing_next has returned
 * the last range of the previous radius.
 */
void
probing_extend(Probing *probing, int radius)
{
	const ProbePlan *plan = probing->plan;

	for (int i = 0; i < plan->ntables; i++)
	{
		probing->before[i] = probing->after[i];
		probing->after[i] = probe_plan_max_flips(plan, i, radius);
	}
	probe_table(probing, 0);
}

/*
 * Advance to the next pattern with the same number of bits set, in ascending order.  After
 * the last of these, advance to the first pattern with one more bit set.  Returns false
 * after the last pattern of the permuted table.
 */
static bool
next_pattern(Probing *probing)
{
	int			unused = SIMHASH_BITS - probing->plan->table[probing->at].nbits;

	if (probing->pattern != last_pattern(probing->nflipped))
		probing->pattern = bits_next_pattern(probing->pattern >> unused) << unused;
	else if (probing->nflipped < probing->after[probing->at])
	{
		probing->nflipped++;
		probing->pattern = probing->nflipped == 0 ? 0 :
			((UINT64CONST(1) << probing->nflipped) - 1) << unused;
	}
	else
		return false;
	return true;
}

/*
 * Fetch the next range to read.  Returns false after the last range.
 */
bool
probing_next(Probing *probing, KeyRange *range)
{
	const ProbedTable *probed;
	uint64		rest;

	while (!next_pattern(probing))
	{
		if (probing->at == probing->plan->ntables - 1)
			return false;
		probe_table(probing, probing->at + 1);
	}
	probed = &probing->plan->table[probing->at];
	rest = probed->nbits == 0 ? ~UINT64CONST(0) :
		(UINT64CONST(1) << (SIMHASH_BITS - probed->nbits)) - 1;
	range->table = probed->table;
	range->probed = probing->at;
	range->low = (design_key(&probing->design->table[probed->table], probing->query) ^
				  probing->pattern) & ~rest;
	range->high = range->low | rest;
	return true;
}
