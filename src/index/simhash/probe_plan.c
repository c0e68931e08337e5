/*-------------------------------------------------------------------------
 *
 * probe_plan.c
 *		Probe plans: ways to search a design, and what each costs
 *
 * Cut 64 bits into m blocks; then two fingerprints that differ in k = m * r + a
 * bits, 0 <= a < m, differ in at most r bits of one of the first a + 1 blocks, or
 * in at most r - 1 bits of one of the others: for otherwise there were
 * (a + 1) (r + 1) + (m - a - 1) r = k + 1 differences.  That is the generalised
 * pigeonhole principle of multi-index hashing (Norouzi, Punjani and Fleet, "Fast
 * exact search in Hamming space with multi-index hashing", 2014).
 *
 * It holds for any blocks that have no bit in common.  So a search may look at
 * fewer bits of a block than it has: the fewer, the fewer ways there are to flip
 * some of them, and the more entries each way leads to.
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

#include <math.h>

#include "bits.h"
#include "index/simhash/probe_plan.h"

/* What a probe costs, in leaves read: its descent is mostly hidden (prefetch.c). */
#define PROBE_COST				1.25

/* Entries that are read by one probe at the most, if fewer bits would do too. */
#define ENTRIES_PER_PROBE		160

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
 * Make a probe plan of a kind, for so many rows.
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
		/* with fewer bits a probe would have to compare too many entries */
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
 * Whether a search for what is within the radius can use a probe plan.
 */
bool
probe_plan_supports(const ProbePlan *plan, int radius)
{
	return plan->kind != PROBE_PLAN_EXACT || radius == 0;
}

/*
 * The differences that have to be looked for in the i-th of n blocks, to find
 * everything within the radius; -1 where the block need not be looked at.
 */
static inline int
block_flips(int radius, int n, int i)
{
	return i <= radius % n ? radius / n : radius / n - 1;
}

/*
 * The differences that have to be looked for in the bits of the i-th permuted table of a
 * probe plan; -1 where the table need not be looked at.  The number never falls as the
 * radius grows.
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
		/* as many in the first block as it may have, the others in the rest */
		flips = block_flips(radius, m, i / n);
		if (flips >= 0)
			flips += block_flips(radius - flips, n, i % n);
	}
	else
	{
		/* those of the p blocks that differ least, if all differ alike */
		flips = p * (radius / m) + Max(0, p - m + radius % m);
	}
	return Min(flips, plan->table[i].nbits);
}

/*
 * Number of patterns of flipped bits in the i-th permuted table of a probe plan;
 * something above the limit if it is above the limit.
 */
static inline double
count_patterns(const ProbePlan *plan, int i, int radius, double limit)
{
	return bits_count_patterns(plan->table[i].nbits, 0, probe_plan_max_flips(plan, i, radius),
							   limit);
}

/*
 * Number of permuted tables that a search probes.
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
 * Number of probes of a search, each with a descent of its own.
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
 * Number of entries of a search, if rows are spread evenly over the prefixes.
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
 * Cost of a search, in leaves read; something above the limit if it is above the
 * limit.  Fitted to what docs/designs.md measured.
 */
double
probe_plan_cost(const ProbePlan *plan, int radius, double nrows, double limit)
{
	double		cost = 0;

	for (int i = 0; i < plan->ntables && cost <= limit; i++)
		cost += count_patterns(plan, i, radius, limit) *
			(PROBE_COST + ldexp(nrows, -plan->table[i].nbits) / ENTRIES_PER_LEAF);
	return cost;
}

/*
 * Make the probe plans of a design, for so many rows.
 */
void
probe_plans_init(ProbePlans *plans, const Design *design, double nrows)
{
	plans->nrows = nrows;
	for (ProbePlanKind kind = 0; kind < PROBE_PLAN_KINDS; kind++)
		probe_plan_init(&plans->kind[kind], design, kind, nrows);
}

/*
 * The cheapest probe plan for a radius, and its cost.
 */
const ProbePlan *
probe_plans_choose(const ProbePlans *plans, int radius, double *cost)
{
	const ProbePlan *cheapest = &plans->kind[PROBE_PLAN_FULL];

	*cost = probe_plan_cost(cheapest, radius, plans->nrows, HUGE_VAL);
	for (ProbePlanKind kind = 0; kind < PROBE_PLAN_FULL; kind++)
	{
		const ProbePlan *plan = &plans->kind[kind];
		double		other = probe_plan_cost(plan, radius, plans->nrows, *cost);

		if (other < *cost && probe_plan_supports(plan, radius))
		{
			cheapest = plan;
			*cost = other;
		}
	}
	return cheapest;
}
