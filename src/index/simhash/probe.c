/*-------------------------------------------------------------------------
 *
 * probe.c
 *		Probes: the ranges of keys that a search looks at, by a probe plan
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifdef FRONTEND
#include "postgres_fe.h"
#else
#include "postgres.h"
#endif

#include "bits.h"
#include "index/simhash/probe.h"

/* Of the patterns with so many bits, the last: they are the highest bits. */
static inline uint64
last_pattern(int nflipped)
{
	return nflipped <= 0 ? 0 : ~UINT64CONST(0) << (SIMHASH_BITS - nflipped);
}

static void
probe_table(Probing *probing, int at)
{
	probing->at = at;
	probing->nflipped = probing->before[at];
	probing->pattern = last_pattern(probing->nflipped);
}

/*
 * Begin a search for everything within a radius, 0 to 64.
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
 * Go on to a larger radius, after everything within the last one was found.
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
 * The next pattern of the same number of bits, in ascending order, or the first
 * one of the next number.  Returns false after the last one.
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
 * The next range to look at.  Returns false after the last one.
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
