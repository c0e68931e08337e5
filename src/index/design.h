/*-------------------------------------------------------------------------
 *
 * design.h
 *		Designs of an index: which tables, and which probes answer a search
 *
 * Pure computation: no buffers, no catalogs.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DESIGN_H
#define SIMHASH_DESIGN_H

#include "type/simhash.h"

#define DESIGN_MIN_BLOCKS		2
#define DESIGN_MAX_BLOCKS		16
#define DESIGN_DEFAULT_BLOCKS	4

#define DESIGN_MAX_TABLES		DESIGN_MAX_BLOCKS

/*
 * A run of bits that a permutation moves together: those of `mask`, rotated
 * to the left by `shift`.
 */
typedef struct BitRun
{
	uint64		mask;
	int			shift;
} BitRun;

/* Cutting into blocks needs one run, a rotation. */
#define TABLE_MAX_RUNS			1

/*
 * A table holds all fingerprints, permuted so that the bits of `mask` come
 * first: its keys.
 */
typedef struct TableDesign
{
	uint64		mask;
	int			nprefix;		/* bits in mask */
	int			nruns;
	BitRun		run[TABLE_MAX_RUNS];
} TableDesign;

typedef struct Design
{
	int			ntables;
	TableDesign table[DESIGN_MAX_TABLES];
} Design;

/*
 * How to search: in table i, every prefix with at most flips[i] bits
 * different from the query's; none where that is negative.
 */
typedef struct ProbePlan
{
	int			flips[DESIGN_MAX_TABLES];
} ProbePlan;

extern void design_init(Design *design, int blocks);
extern void design_plan_probes(const Design *design, int radius, ProbePlan *plan);
extern double design_count_patterns(int nprefix, int flips);
extern double design_count_probes(const Design *design, const ProbePlan *plan);
extern bool design_probing_pays(const Design *design, const ProbePlan *plan,
								double table_pages);
extern bool design_next_pattern(uint64 *pattern, int nprefix, int flips);

/* shift is 0 to 63 */
static inline uint64
rotate_left(uint64 bits, int shift)
{
	return bits << shift | bits >> ((64 - shift) & 63);
}

/*
 * The key of a fingerprint in a table.  It keeps distances: two keys of one
 * table differ in as many bits as their fingerprints.
 */
static inline uint64
design_key(const TableDesign *table, SimHash fp)
{
	uint64		key = 0;

	for (int i = 0; i < table->nruns; i++)
		key |= rotate_left(fp & table->run[i].mask, table->run[i].shift);
	return key;
}

/* The fingerprint of a key: design_key backwards. */
static inline SimHash
design_fingerprint(const TableDesign *table, uint64 key)
{
	SimHash		fp = 0;

	for (int i = 0; i < table->nruns; i++)
		fp |= rotate_left(key, (64 - table->run[i].shift) & 63) & table->run[i].mask;
	return fp;
}

/*
 * Whether the probes of a table find a fingerprint that differs from the
 * query's by the bits of `difference`.
 */
static inline bool
design_probe_reaches(const Design *design, const ProbePlan *plan, int table,
					 uint64 difference)
{
	return pg_popcount64(difference & design->table[table].mask) <= plan->flips[table];
}

#endif							/* SIMHASH_DESIGN_H */
