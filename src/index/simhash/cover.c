/*-------------------------------------------------------------------------
 *
 * cover.c
 *		Covers: ways to search a design, and what each costs
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
#include "index/simhash/cover.h"

/* What a probe costs, in leaves read: its descent is mostly hidden (prefetch.c). */
#define PROBE_COST				1.25

/* Entries that are read by one probe at the most, if fewer bits would do too. */
#define ENTRIES_PER_PROBE		160

static void
add_table(Cover *cover, const TableDesign *table, int i, int nbits)
{
	CoverTable *added = &cover->table[cover->ntables++];

	added->table = i;
	added->nbits = nbits;
	added->mask = nbits == 0 ? 0 :
		design_fingerprint(table, ~UINT64CONST(0) << (SIMHASH_BITS - nbits));
}

/*
 * Make a cover of a kind, for so many rows.
 */
void
cover_init(Cover *cover, const Design *design, CoverKind kind, double nrows)
{
	int			most = SIMHASH_BITS;

	cover->kind = kind;
	cover->design = design->options;
	cover->ntables = 0;
	if (kind == COVER_EXACT || kind == COVER_THROUGH)
	{
		add_table(cover, &design->table[0], 0, kind == COVER_EXACT ? SIMHASH_BITS : 0);
		return;
	}
	if (kind == COVER_PREFIXES)
	{
		for (int i = 0; i < design->ntables; i++)
			add_table(cover, &design->table[i], i, design->table[i].nprefix);
		return;
	}
	if (kind == COVER_SHORT)
	{
		/* with fewer bits a probe would have to compare too many entries */
		most = 1;
		while (most < SIMHASH_BITS && ldexp(ENTRIES_PER_PROBE, most) < nrows)
			most++;
	}
	for (int block = 0; block < design->options.blocks; block++)
	{
		int			i = 0;

		while (design->table[i].block != block)
			i++;
		add_table(cover, &design->table[i], i, Min(most, design->table[i].nblock));
	}
}

/*
 * Whether a search for what is within the radius can use a cover.
 */
bool
cover_reaches(const Cover *cover, int radius)
{
	return cover->kind != COVER_EXACT || radius == 0;
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
 * The differences that have to be looked for in the bits of the i-th table of a cover; -1
 * where the table need not be looked at.  The number never falls as the radius grows.
 */
int
cover_flips(const Cover *cover, int i, int radius)
{
	int			m = cover->design.blocks;
	int			p = cover->design.prefix;
	int			n = cover->design.nested;
	int			flips;

	if (cover->kind == COVER_EXACT || cover->kind == COVER_THROUGH)
		return 0;
	if (cover->kind != COVER_PREFIXES || (p == 1 && n == 1))
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
	return Min(flips, cover->table[i].nbits);
}

/*
 * Number of patterns of flipped bits in the i-th of the tables of a cover; something
 * above the limit if it is above the limit.
 */
static inline double
count_patterns(const Cover *cover, int i, int radius, double limit)
{
	return bits_count_patterns(cover->table[i].nbits, 0, cover_flips(cover, i, radius),
							   limit);
}

/*
 * Number of tables that a search looks into.
 */
int
cover_count_tables(const Cover *cover, int radius)
{
	int			n = 0;

	for (int i = 0; i < cover->ntables; i++)
		n += cover_flips(cover, i, radius) >= 0;
	return n;
}

/*
 * Number of probes of a search, each with a descent of its own.
 */
double
cover_count_probes(const Cover *cover, int radius)
{
	double		sum = 0;

	for (int i = 0; i < cover->ntables; i++)
		sum += count_patterns(cover, i, radius, HUGE_VAL);
	return sum;
}

/*
 * Number of entries of a search, if rows are spread evenly over the prefixes.
 */
double
cover_count_entries(const Cover *cover, int radius, double nrows)
{
	double		sum = 0;

	for (int i = 0; i < cover->ntables; i++)
		sum += ldexp(count_patterns(cover, i, radius, HUGE_VAL) * nrows,
					 -cover->table[i].nbits);
	return sum;
}

/*
 * Cost of a search, in leaves read; something above the limit if it is above the
 * limit.  Fitted to what docs/designs.md measured.
 */
double
cover_cost(const Cover *cover, int radius, double nrows, double limit)
{
	double		cost = 0;

	for (int i = 0; i < cover->ntables && cost <= limit; i++)
		cost += count_patterns(cover, i, radius, limit) *
			(PROBE_COST + ldexp(nrows, -cover->table[i].nbits) / ENTRIES_PER_LEAF);
	return cost;
}

/*
 * Make the covers of a design, for so many rows.
 */
void
covers_init(Covers *covers, const Design *design, double nrows)
{
	covers->nrows = nrows;
	for (CoverKind kind = 0; kind < COVER_KINDS; kind++)
		cover_init(&covers->kind[kind], design, kind, nrows);
}

/*
 * The cheapest cover for a radius, and its cost.
 */
const Cover *
covers_choose(const Covers *covers, int radius, double *cost)
{
	const Cover *cheapest = &covers->kind[COVER_THROUGH];

	*cost = cover_cost(cheapest, radius, covers->nrows, HUGE_VAL);
	for (CoverKind kind = 0; kind < COVER_THROUGH; kind++)
	{
		const Cover *cover = &covers->kind[kind];
		double		other = cover_cost(cover, radius, covers->nrows, *cost);

		if (other < *cost && cover_reaches(cover, radius))
		{
			cheapest = cover;
			*cost = other;
		}
	}
	return cheapest;
}
