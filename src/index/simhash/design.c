/*
 * Designs of an index: permuted tables and their keys
 *
 * The designs are from Manku, Jain and Das Sarma, "Detecting near-duplicates for web
 * crawling", 2007, section 3.  A design has a permuted table for each block, or for every
 * choice of several blocks.  A nested design cuts the bits outside a block into nested
 * blocks.  It has a permuted table for each pair of a block and one of its nested blocks.
 * Longer prefixes leave fewer candidates to compare, but need more permuted tables.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "index/simhash/design.h"

/*
 * The order of a fingerprint's bits in a permuted table, or the first n bits of that
 * order.  Bits are numbered from 0, the most significant bit.
 */
typedef struct BitOrder
{
	int			n;				/* number of bits in bit[] */
	int			bit[SIMHASH_BITS];	/* numbers of the bits, in order */
	uint64		taken;			/* mask of the bits in bit[] */
} BitOrder;

/* A range of bits.  Bit 0 follows bit 63. */
typedef struct BitRange
{
	int			start;			/* number of the first bit */
	int			length;			/* number of bits */
} BitRange;

/*
 * Return the number of permuted tables of a design.  A number above DESIGN_MAX_TABLES is
 * too high for an index.
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
 * Return true if an index can have the design with these options.
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
 * Cut a range into n blocks, and return the i-th block.  If n does not divide the length
 * of the range, the first blocks have one bit more than the others.
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
 * Append the bits of a range to an order.  Skips bits that are in the order already.
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
 * Initialize a permuted table.  `order` contains the bits of its prefix.  The prefix
 * begins with the block whose number is `block` and whose range is `first`.  Appends the
 * other bits to the order, beginning with the bit after the first block.
 */
static void
init_table(PermutedTable *table, int block, BitRange first, BitOrder *order)
{
	BitRange	others = {first.start + first.length, SIMHASH_BITS};

	table->mask = order->taken;
	table->nprefix = order->n;
	table->block = block;
	table->nblock = first.length;
	table->ngroups = 0;
	append_bits(order, others);

	for (int i = 0; i < SIMHASH_BITS; i++)
	{
		int			shift = (order->bit[i] - i) & (SIMHASH_BITS - 1);
		int			group = 0;

		while (group < table->ngroups && table->group[group].shift != shift)
			group++;
		if (group == table->ngroups)
		{
			Assert(group < TABLE_MAX_GROUPS);
			table->group[group].shift = shift;
			table->group[group].mask = 0;
			table->ngroups++;
		}
		table->group[group].mask |=
			UINT64CONST(1) << (SIMHASH_BITS - 1 - order->bit[i]);
	}
}

/*
 * Return the number of the chosen block that comes first in the permuted table.  The other
 * chosen blocks follow in a circle.  The block that comes first has the longest gap before
 * it: blocks in a row that are not chosen.  So among adjacent chosen blocks, the leftmost
 * comes first.  Every block comes first in some permuted table.
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
	Assert(first >= 0);
	return first;
}

/*
 * Initialize the permuted table whose prefix consists of the chosen blocks.  Bit i of
 * `chosen` is set if the i-th block is chosen.
 */
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

/*
 * Initialize the i-th permuted table of a design with nested blocks.
 */
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

/*
 * Initialize a permuted table with the identity permutation.
 */
static void
init_identity(PermutedTable *table)
{
	memset(table, 0, sizeof(PermutedTable));
	table->mask = PG_UINT64_MAX;
	table->nprefix = table->nblock = SIMHASH_BITS;
	table->ngroups = 1;
	table->group[0].mask = PG_UINT64_MAX;
}

/*
 * Initialize a design and its permuted tables.  The options must be valid.
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
