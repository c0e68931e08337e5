/*-------------------------------------------------------------------------
 *
 * design.h
 *		Designs of an index: permuted tables and their keys
 *
 * Pure computation: no buffers, no catalogs.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DESIGN_H
#define SIMHASH_DESIGN_H

#include "bits.h"
#include "type/simhash_type.h"

#define DESIGN_MIN_BLOCKS		2
#define DESIGN_MAX_BLOCKS		16
#define DESIGN_DEFAULT_BLOCKS	4
#define DESIGN_MAX_NESTED		16

#define DESIGN_MAX_TABLES		32

/*
 * The options of a design, which a user chooses.  64 bits are cut into `blocks` blocks.
 * There is a permuted table for every choice of `prefix` blocks.  The chosen blocks come
 * first in it.  If `nested` is not 1, one block comes first, and the other bits are cut
 * again, into `nested` blocks.  Then there is a permuted table for each pair of a first
 * block and a nested block, which comes second.
 */
typedef struct DesignOptions
{
	int			blocks;
	int			prefix;
	int			nested;
} DesignOptions;

#define DESIGN_DEFAULT		((DesignOptions) {DESIGN_DEFAULT_BLOCKS, 1, 1})

/*
 * The design for keys that are looked up whole: one permuted table, with the identity
 * permutation.  Users cannot choose it.  The operator class does.
 */
#define DESIGN_WHOLE		((DesignOptions) {1, 0, 1})

/* The most runs of a permuted table, in designs with at most DESIGN_MAX_TABLES of them. */
#define TABLE_MAX_RUNS			6

/*
 * A permuted table.  Its keys are all fingerprints, with their bits permuted so that the
 * bits of `mask`, the prefix, come first.
 */
typedef struct PermutedTable
{
	uint64		mask;
	int			nprefix;		/* number of bits in mask */
	int			block;			/* number of the block that comes first */
	int			nblock;			/* number of bits in that block */
	int			nruns;
	BitRun		run[TABLE_MAX_RUNS];
} PermutedTable;

/*
 * A design and its permuted tables.  table[ntables] is one more, with the identity
 * permutation.  It is for the tree of the placeholders of rows without keys.
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
 * differ in as many bits as their fingerprints, so keys keep distances.
 */
static inline uint64
design_key(const PermutedTable *table, SimHash fp)
{
	uint64		key = 0;

	for (int i = 0; i < table->nruns; i++)
		key |= bits_rotate_left(fp & table->run[i].mask, table->run[i].shift);
	return key;
}

/* Return the fingerprint of a key.  This is the inverse of design_key. */
static inline SimHash
design_fingerprint(const PermutedTable *table, uint64 key)
{
	SimHash		fp = 0;

	for (int i = 0; i < table->nruns; i++)
		fp |= bits_rotate_left(key, (64 - table->run[i].shift) & 63) & table->run[i].mask;
	return fp;
}

#endif							/* SIMHASH_DESIGN_H */
