/*
 * Probe plans: ways to search a design, their costs, and the key ranges that they read
 *
 * Cut 64 bits into m blocks.  Let two fingerprints differ in k = m * r + a bits,
 * 0 <= a < m.  Then they differ in at most r bits of one of the first a + 1 blocks, or
 * in at most r - 1 bits of one of the others.  Otherwise there would be at least
 * (a + 1) (r + 1) + (m - a - 1) r = k + 1 differences.  This is the generalised
 * pigeonhole principle of multi-index hashing (Norouzi, Punjani and Fleet, "Fast
 * exact search in Hamming space with multi-index hashing", 2014).
 *
 * The principle holds for any blocks that have no bit in common.  So a search may use
 * fewer bits than a block has.  Fewer bits have fewer patterns of flipped bits, but each
 * pattern leads to more entries.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include <math.h>

#include "index/simhash/probe_plan.h"

/*
 * Cost of a probe, in leaves read, besides the cost of its entries.  Prefetching mostly
 * hides the descent of a probe (leaf_reader.c).
 */
#define PROBE_COST				1.25

/*
 * Maximum number of entries that one probe of PROBE_PLAN_SHORT reads, if rows are spread
 * evenly.  A probe reads more if the block has too few bits.
 */
#define ENTRIES_PER_PROBE		160

/* --- plans ----------------------------------------------------------------------- */

/*
 * Add a permuted table, the i-th of the design, to a probe plan.  It is probed by the
 * first nbits bits of its keys.
 */
static void
add_table(ProbePlan *plan, const PermutedTable *table, int i, int nbits)
{
	ProbedTable *added = &plan->table[plan->ntables++];

	added->table = i;
	added->nbits = nbits;
	added->mask = nbits == 0 ? 0 :
		design_fingerprint(table, ~UINT64CONST(0) << (SIMHASH_BITS - nbits));
}

/*
 * Initialize a probe plan of this kind, for an index with nrows rows.
 */
void
probe_plan_init(ProbePlan *plan, const Design *design, ProbePlanKind kind, double nrows)
{
	int			max_bits = SIMHASH_BITS;

	plan->kind = kind;
	plan->design = design->options;
	plan->ntables = 0;
	if (kind == PROBE_PLAN_EXACT || kind == PROBE_PLAN_FULL)
	{
		add_table(plan, &design->table[0], 0, kind == PROBE_PLAN_EXACT ? SIMHASH_BITS : 0);
		return;
	}
	if (kind == PROBE_PLAN_PREFIXES)
	{
		for (int i = 0; i < design->ntables; i++)
			add_table(plan, &design->table[i], i, design->table[i].nprefix);
		return;
	}
	if (kind == PROBE_PLAN_SHORT)
	{
		/* with fewer bits, a probe would read more than ENTRIES_PER_PROBE entries */
		max_bits = 1;
		while (max_bits < SIMHASH_BITS && ldexp(ENTRIES_PER_PROBE, max_bits) < nrows)
			max_bits++;
	}
	for (int block = 0; block < design->options.blocks; block++)
	{
		int			i = 0;

		while (design->table[i].block != block)
			i++;
		add_table(plan, &design->table[i], i, Min(max_bits, design->table[i].nblock));
	}
}

/*
 * Return true if a search within a radius in bits can use a probe plan.
 */
bool
probe_plan_supports(const ProbePlan *plan, int radius)
{
	return plan->kind != PROBE_PLAN_EXACT || radius == 0;
}

/*
 * Return the maximum number of bits to flip in the i-th of n blocks, to find all
 * fingerprints within a radius in bits.  Returns -1 if the block can be skipped.
 */
static inline int
block_flips(int radius, int n, int i)
{
	return i <= radius % n ? radius / n : radius / n - 1;
}

/*
 * Return the maximum number of bits to flip in the i-th permuted table of a probe plan, to
 * find all fingerprints within a radius in bits.  Returns -1 if the permuted table can be
 * skipped.  For a larger radius, the result is never smaller.
 */
int
probe_plan_max_flips(const ProbePlan *plan, int i, int radius)
{
	int			m = plan->design.blocks;
	int			p = plan->design.prefix;
	int			n = plan->design.nested;
	int			flips;

	if (plan->kind == PROBE_PLAN_EXACT || plan->kind == PROBE_PLAN_FULL)
		return 0;
	if (plan->kind != PROBE_PLAN_PREFIXES || (p == 1 && n == 1))
		flips = block_flips(radius, m, i);
	else if (n > 1)
	{
		/*
		 * At most `flips` differences are in the first block.  The remaining differences
		 * are in the other bits, which are cut into n nested blocks.
		 */
		flips = block_flips(radius, m, i / n);
		if (flips >= 0)
			flips += block_flips(radius - flips, n, i % n);
	}
	else
	{
		/*
		 * If the differences are spread evenly over the m blocks, this is their number in
		 * the p blocks that have the fewest.
		 */
		flips = p * (radius / m) + Max(0, p - m + radius % m);
	}
	return Min(flips, plan->table[i].nbits);
}

/*
 * Return the number of patterns of flipped bits in the i-th permuted table of a probe plan.
 * If this number is above the limit, may return any other number above the limit.
 */
static inline double
count_patterns(const ProbePlan *plan, int i, int radius, double limit)
{
	return bits_count_patterns(plan->table[i].nbits, 0, probe_plan_max_flips(plan, i, radius),
							   limit);
}

/*
 * Return the number of permuted tables that a search within a radius in bits probes.
 */
int
probe_plan_count_tables(const ProbePlan *plan, int radius)
{
	int			n = 0;

	for (int i = 0; i < plan->ntables; i++)
		n += probe_plan_max_flips(plan, i, radius) >= 0;
	return n;
}

/*
 * Return the number of probes of a search within a radius in bits.  Each probe is one
 * descent.
 */
double
probe_plan_count_probes(const ProbePlan *plan, int radius)
{
	double		sum = 0;

	for (int i = 0; i < plan->ntables; i++)
		sum += count_patterns(plan, i, radius, HUGE_VAL);
	return sum;
}

/*
 * Return the number of entries that a search within a radius in bits reads, if nrows rows
 * are spread evenly over the prefixes.
 */
double
probe_plan_count_entries(const ProbePlan *plan, int radius, double nrows)
{
	double		sum = 0;

	for (int i = 0; i < plan->ntables; i++)
		sum += ldexp(count_patterns(plan, i, radius, HUGE_VAL) * nrows,
					 -plan->table[i].nbits);
	return sum;
}

/*
 * Return the cost of a search within a radius in bits, in leaves read.  If the cost is
 * above the limit, may return any other number above the limit.  The formula is fitted to
 * the measurements in docs/performance.md.
 */
static double
probe_plan_cost(const ProbePlan *plan, int radius, double nrows, double limit)
{
	double		cost = 0;

	for (int i = 0; i < plan->ntables && cost <= limit; i++)
		cost += count_patterns(plan, i, radius, limit) *
			(PROBE_COST + ldexp(nrows, -plan->table[i].nbits) / ENTRIES_PER_LEAF);
	return cost;
}

/*
 * Initialize the probe plans of a design for an index with nrows rows.
 */
void
probe_plans_init(ProbePlans *plans, const Design *design, double nrows)
{
	plans->nrows = nrows;
	plans->chosen_radius = -1;
	for (ProbePlanKind kind = 0; kind < PROBE_PLAN_KINDS; kind++)
		probe_plan_init(&plans->kind[kind], design, kind, nrows);
}

/*
 * Return the cheapest probe plan for a radius in bits.  Sets *cost to its cost, in leaves
 * read.  Keeps the choice, because rescans mostly have the radius of the scan before.
 */
const ProbePlan *
probe_plans_choose(ProbePlans *plans, int radius, double *cost)
{
	if (radius != plans->chosen_radius)
	{
		plans->chosen = PROBE_PLAN_FULL;
		plans->chosen_radius = radius;
		plans->chosen_cost = probe_plan_cost(&plans->kind[PROBE_PLAN_FULL], radius,
											 plans->nrows, HUGE_VAL);
		for (ProbePlanKind kind = 0; kind < PROBE_PLAN_FULL; kind++)
		{
			const ProbePlan *plan = &plans->kind[kind];
			double		other = probe_plan_cost(plan, radius, plans->nrows,
												plans->chosen_cost);

			if (other < plans->chosen_cost && probe_plan_supports(plan, radius))
			{
				plans->chosen = kind;
				plans->chosen_cost = other;
			}
		}
	}
	*cost = plans->chosen_cost;
	return &plans->kind[plans->chosen];
}

/* --- probes ---------------------------------------------------------------------- */

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
