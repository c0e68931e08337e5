/*-------------------------------------------------------------------------
 *
 * design.c
 *		Designs of an index: its permuted tables, and the keys in them
 *
 * Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling",
 * 2007, section 3: a permuted table for each block; for every choice of several
 * blocks; or for each block and then each of the blocks that the rest is cut into.
 * Longer prefixes leave fewer candidates to compare, at the price of more permuted
 * tables.
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
#include "index/simhash/design.h"

/*
 * The order in which a permuted table has the bits of a fingerprint; bit 0 is the
 * most significant.
 */
typedef struct BitOrder
{
	int			n;
	int			bit[SIMHASH_BITS];
	uint64		taken;			/* the same as a mask */
} BitOrder;

/* Some of the bits, which go round in a circle. */
typedef struct BitRange
{
	int			start;
	int			length;
} BitRange;

/*
 * Number of permuted tables of a design; more than DESIGN_MAX_TABLES if there are too
 * many.
 */
int
design_count_tables(const DesignOptions *options)
{
	int			n = options->nested;

	for (int i = 0; i < options->prefix; i++)
		n = n * (options->blocks - i) / (i + 1);
	return n;
}

/*
 * Whether an index can have such a design.
 */
bool
design_is_valid(const DesignOptions *options)
{
	if (design_is_whole(options))
		return options->blocks == 1 && options->nested == 1;
	return options->blocks >= DESIGN_MIN_BLOCKS &&
		options->blocks <= DESIGN_MAX_BLOCKS &&
		options->prefix >= 1 && options->prefix < options->blocks &&
		options->nested >= 1 && options->nested <= DESIGN_MAX_NESTED &&
		(options->prefix == 1 || options->nested == 1) &&
		design_count_tables(options) <= DESIGN_MAX_TABLES;
}

/*
 * The i-th of `n` blocks that a range is cut into.  Where it cannot be divided
 * evenly, the first blocks have one bit more.
 */
static BitRange
cut(BitRange range, int n, int i)
{
	BitRange	block;

	block.start = range.start + range.length / n * i + Min(i, range.length % n);
	block.length = range.length / n + (i < range.length % n);
	return block;
}

/*
 * Append those bits of a range that the order does not have yet.
 */
static void
append_bits(BitOrder *order, BitRange range)
{
	for (int i = range.start; i < range.start + range.length; i++)
	{
		uint64		mask = UINT64CONST(1) << (SIMHASH_BITS - 1 - i % SIMHASH_BITS);

		if (order->taken & mask)
			continue;
		order->taken |= mask;
		order->bit[order->n++] = i % SIMHASH_BITS;
	}
}

/*
 * Make a permuted table out of the order of its prefix bits: the others follow,
 * beginning with those behind the first block.
 */
static void
init_table(PermutedTable *table, int block, BitRange first, BitOrder *order)
{
	BitRange	others = {first.start + first.length, SIMHASH_BITS};

	table->mask = order->taken;
	table->nprefix = order->n;
	table->block = block;
	table->nblock = first.length;
	table->nruns = 0;
	append_bits(order, others);

	for (int i = 0; i < SIMHASH_BITS; i++)
	{
		int			shift = (order->bit[i] - i) & (SIMHASH_BITS - 1);
		int			run = 0;

		while (run < table->nruns && table->run[run].shift != shift)
			run++;
		if (run == table->nruns)
		{
			Assert(run < TABLE_MAX_RUNS);
			table->run[run].shift = shift;
			table->run[run].mask = 0;
			table->nruns++;
		}
		table->run[run].mask |=
			UINT64CONST(1) << (SIMHASH_BITS - 1 - order->bit[i]);
	}
}

/*
 * Which of the chosen blocks comes first; the others follow in a circle.  The first is
 * the block with most blocks missing before it, so that of neighbours the leftmost comes
 * first: thus every block comes first in some permuted
 * table.
 */
static int
first_block(int blocks, uint32 chosen)
{
	int			first = -1;
	int			max_missing = -1;

	for (int i = 0; i < blocks; i++)
	{
		int			missing = 0;

		if (!(chosen & 1 << i))
			continue;
		while (missing < blocks && !(chosen & 1 << (i + blocks - 1 - missing) % blocks))
			missing++;
		if (missing > max_missing)
		{
			first = i;
			max_missing = missing;
		}
	}
	return first;
}

static void
init_chosen(PermutedTable *table, const DesignOptions *options, uint32 chosen)
{
	BitRange	all = {0, SIMHASH_BITS};
	BitOrder	order = {0};
	int			first = first_block(options->blocks, chosen);

	for (int i = 0; i < options->blocks; i++)
	{
		int			block = (first + i) % options->blocks;

		if (chosen & 1 << block)
			append_bits(&order, cut(all, options->blocks, block));
	}
	init_table(table, first, cut(all, options->blocks, first), &order);
}

static void
init_nested(PermutedTable *table, const DesignOptions *options, int i)
{
	BitRange	all = {0, SIMHASH_BITS};
	BitRange	first = cut(all, options->blocks, i / options->nested);
	BitRange	rest = {first.start + first.length, SIMHASH_BITS - first.length};
	BitOrder	order = {0};

	append_bits(&order, first);
	append_bits(&order, cut(rest, options->nested, i % options->nested));
	init_table(table, i / options->nested, first, &order);
}

static void
init_identity(PermutedTable *table)
{
	memset(table, 0, sizeof(PermutedTable));
	table->mask = PG_UINT64_MAX;
	table->nprefix = table->nblock = SIMHASH_BITS;
	table->nruns = 1;
	table->run[0].mask = PG_UINT64_MAX;
}

/*
 * Make the permuted tables of a design, which is valid.
 */
void
design_init(Design *design, const DesignOptions *options)
{
	uint32		chosen = (1 << options->prefix) - 1;

	design->options = *options;
	design->ntables = design_count_tables(options);
	for (int i = 0; i < design->ntables; i++)
	{
		if (design_is_whole(options))
			init_identity(&design->table[i]);
		else if (options->nested > 1)
			init_nested(&design->table[i], options, i);
		else
		{
			init_chosen(&design->table[i], options, chosen);
			chosen = bits_next_pattern(chosen);
		}
	}
	init_identity(&design->table[design->ntables]);
}
