/*
 * Designs of an index: permuted tables and their keys
 *
 * Pure computation: no buffers, no catalogs.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_DESIGN_H
#define SIMHASH_DESIGN_H

#include "type/simhash_type.h"

#define DESIGN_MIN_BLOCKS		2
#define DESIGN_MAX_BLOCKS		16
#define DESIGN_DEFAULT_BLOCKS	4
#define DESIGN_MAX_NESTED		16

#define DESIGN_MAX_TABLES		32

/*
 * The options of a design, which a user chooses.  The 64 bits are cut into `blocks`
 * blocks.  There is a permuted table for every choice of `prefix` blocks, in which the
 * chosen blocks come first.
 *
 * If `nested` is not 1, `prefix` is 1.  Then the bits outside the chosen block are cut
 * into `nested` nested blocks.  There is a permuted table for each pair of a block and one
 * of its nested blocks.  The block comes first in it, and the nested block second.
 */
typedef struct DesignOptions
{
	int			blocks;
	int			prefix;
	int			nested;
} DesignOptions;

#define DESIGN_DEFAULT		((DesignOptions) {DESIGN_DEFAULT_BLOCKS, 1, 1})

/*
 * The design for searches for equal keys: one permuted table, with the identity
 * permutation.  Indexes of multi-key operator classes have this design.  Users cannot
 * choose it.
 */
#define DESIGN_WHOLE		((DesignOptions) {1, 0, 1})

/* Maximum number of bit groups of a permuted table, in any valid design. */
#define TABLE_MAX_GROUPS			5

/*
 * A permuted table.  Its keys are the fingerprints of all rows, with their bits permuted.
 * The bits of the prefix come first.
 */
typedef struct PermutedTable
{
	uint64		mask;			/* bits of a fingerprint that form the prefix */
	int			nprefix;		/* number of bits in mask */
	int			block;			/* number of the block that comes first */
	int			nblock;			/* number of bits in that block */
	int			ngroups;			/* number of groups of the bit permutation */
	BitGroup	group[TABLE_MAX_GROUPS];
} PermutedTable;

/*
 * A design and its permuted tables, table[0..ntables-1].  table[ntables] belongs to the
 * tree of placeholders, which are the entries of rows without keys.  It has the identity
 * permutation.
 */
typedef struct Design
{
	DesignOptions options;
	int			ntables;
	PermutedTable table[DESIGN_MAX_TABLES + 1];
} Design;

extern int	design_count_tables(const DesignOptions *options);
extern bool design_is_valid(const DesignOptions *options);
extern void design_init(Design *design, const DesignOptions *options);

static inline bool
design_is_whole(const DesignOptions *options)
{
	return options->prefix == 0;
}

/*
 * Return the key of a fingerprint in a permuted table.  Two keys of one permuted table
 * differ in as many bits as their fingerprints do.  So keys have the same distances.
 */
static inline uint64
design_key(const PermutedTable *table, SimHash fp)
{
	uint64		key = 0;

	for (int i = 0; i < table->ngroups; i++)
		key |= bits_rotate_left(fp & table->group[i].mask, table->group[i].shift);
	return key;
}

/* Return the fingerprint of a key of a permuted table.  The inverse of design_key. */
static inline SimHash
design_fingerprint(const PermutedTable *table, uint64 key)
{
	SimHash		fp = 0;

	for (int i = 0; i < table->ngroups; i++)
		fp |= bits_rotate_left(key, (64 - table->group[i].shift) & 63) & table->group[i].mask;
	return fp;
}

#endif							/* SIMHASH_DESIGN_H */
