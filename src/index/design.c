/*-------------------------------------------------------------------------
 *
 * design.c
 *		Designs of an index: which tables, and which probes answer a search
 *
 * Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling",
 * 2007: cut 64 bits into blocks; two fingerprints that differ in fewer bits
 * than there are blocks agree on at least one block.  For larger radii, the
 * generalised pigeonhole principle of multi-index hashing (Norouzi, Punjani
 * and Fleet, "Fast exact search in Hamming space with multi-index hashing",
 * 2014): within k = m * r + a bits, with m blocks and 0 <= a < m, either one
 * of the first a + 1 blocks differs in at most r bits or one of the others in
 * at most r - 1, for otherwise there were (a + 1) (r + 1) + (m - a - 1) r
 * = k + 1 differences.
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

#include "index/design.h"

/*
 * The design of one table a block, with as many blocks as given.  Where 64
 * cannot be divided evenly, the first blocks have one bit more.
 */
void
design_init(Design *design, int blocks)
{
	int			offset = 0;		/* bits before the block */

	design->ntables = blocks;
	for (int i = 0; i < blocks; i++)
	{
		TableDesign *table = &design->table[i];
		uint64		prefix;

		table->nprefix = SIMHASH_BITS / blocks + (i < SIMHASH_BITS % blocks);
		prefix = ~UINT64CONST(0) << (SIMHASH_BITS - table->nprefix);
		table->mask = prefix >> offset;
		table->nruns = 1;
		table->run[0].mask = ~UINT64CONST(0);
		table->run[0].shift = offset;
		offset += table->nprefix;
	}
}

/*
 * Plan the probes that find everything within the radius, 0 to 63.
 */
void
design_plan_probes(const Design *design, int radius, ProbePlan *plan)
{
	int			flips = radius / design->ntables;
	int			rest = radius % design->ntables;

	for (int i = 0; i < design->ntables; i++)
		plan->flips[i] = Min(i <= rest ? flips : flips - 1,
							 design->table[i].nprefix);
}

/*
 * Number of prefixes with at most so many bits flipped: 0 for -1.
 */
double
design_count_patterns(int nprefix, int flips)
{
	double		combinations = 1;
	double		sum = 0;

	for (int i = 0; i <= flips; i++)
	{
		sum += combinations;
		combinations = combinations * (nprefix - i) / (i + 1);
	}
	return sum;
}

double
design_count_probes(const Design *design, const ProbePlan *plan)
{
	double		sum = 0;

	for (int i = 0; i < design->ntables; i++)
		sum += design_count_patterns(design->table[i].nprefix, plan->flips[i]);
	return sum;
}

/*
 * Whether probing reads less than all of one table, of so many pages.  A probe
 * descends to a page of its own; a table is read from page to page.
 */
bool
design_probing_pays(const Design *design, const ProbePlan *plan, double table_pages)
{
	return design_count_probes(design, plan) <= Max(design->ntables, table_pages);
}

/*
 * The next pattern of flipped prefix bits, as the highest bits of a key:
 * from 0 on, by number of bits flipped, then ascending.  Returns false, and
 * leaves the pattern alone, after the last one of at most `flips` bits.
 */
bool
design_next_pattern(uint64 *pattern, int nprefix, int flips)
{
	int			unused = SIMHASH_BITS - nprefix;
	uint64		low = *pattern >> unused;
	int			count = pg_popcount64(low);
	uint64		first = count < 64 ? (UINT64CONST(1) << count) - 1 : ~UINT64CONST(0);

	if (low != first << (nprefix - count))
	{
		/* the next larger number of as many bits (Gosper) */
		uint64		lowest = low & -low;
		uint64		ripple = low + lowest;

		low = ripple | (((low ^ ripple) >> 2) / lowest);
	}
	else if (count < flips)
		low = (UINT64CONST(1) << (count + 1)) - 1;
	else
		return false;
	*pattern = low << unused;
	return true;
}
