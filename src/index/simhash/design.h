/*-------------------------------------------------------------------------
 *
 * design.h
 *		Designs of an index: its permuted tables, and the keys in them
 *
 * Pure computation: no buffers, no catalogs.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
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
 * What a user chooses.  64 bits are cut into `blocks` blocks.  There is a
 * permuted table for every choice of `prefix` of them, which then come first.  Or,
 * where `nested` is not 1, after the one block that comes first the other bits are
 * cut again, into `nested` blocks, and there is a permuted table for each of these,
 * which then comes second.
 */
typedef struct DesignOptions
{
	int			blocks;
	int			prefix;
	int			nested;
} DesignOptions;

#define DESIGN_DEFAULT		((DesignOptions) {DESIGN_DEFAULT_BLOCKS, 1, 1})

/*
 * The design of words that are looked up as they are: one permuted table, with the
 * identity permutation.  Users cannot choose it; the operator class does.
 */
#define DESIGN_WHOLE		((DesignOptions) {1, 0, 1})

/*
 * A run of bits that a bit permutation moves together: those of `mask`, rotated
 * to the left by `shift`.
 */
typedef struct BitRun
{
	uint64		mask;
	int			shift;
} BitRun;

/* No design with at most DESIGN_MAX_TABLES permuted tables needs more. */
#define TABLE_MAX_RUNS			6

/*
 * A permuted table holds all fingerprints, their bits permuted so that the bits of
 * `mask`, its prefix, come first: its keys.
 */
typedef struct PermutedTable
{
	uint64		mask;
	int			nprefix;		/* bits in mask */
	int			block;			/* the block that comes first */
	int			nblock;			/* bits in it */
	int			nruns;
	BitRun		run[TABLE_MAX_RUNS];
} PermutedTable;

/*
 * Behind the permuted tables stands one more, with the identity permutation: that of the
 * tree of the rows without words.
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

/* shift is 0 to 63 */
static inline uint64
rotate_left(uint64 bits, int shift)
{
	return bits << shift | bits >> ((64 - shift) & 63);
}

/*
 * The key of a fingerprint in a permuted table.  It keeps distances: two keys of one
 * permuted table differ in as many bits as their fingerprints.
 */
static inline uint64
design_key(const PermutedTable *table, SimHash fp)
{
	uint64		key = 0;

	for (int i = 0; i < table->nruns; i++)
		key |= rotate_left(fp & table->run[i].mask, table->run[i].shift);
	return key;
}

/* The fingerprint of a key: design_key backwards. */
static inline SimHash
design_fingerprint(const PermutedTable *table, uint64 key)
{
	SimHash		fp = 0;

	for (int i = 0; i < table->nruns; i++)
		fp |= rotate_left(key, (64 - table->run[i].shift) & 63) & table->run[i].mask;
	return fp;
}

#endif							/* SIMHASH_DESIGN_H */
