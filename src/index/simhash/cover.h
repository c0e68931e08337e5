/*-------------------------------------------------------------------------
 *
 * cover.h
 *		Covers: ways to search a design, and what each costs
 *
 * Pure computation: no buffers, no catalogs.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_COVER_H
#define SIMHASH_COVER_H

#include "index/simhash/design.h"

/*
 * A cover is a way to search a design: tables of it, and how much of their
 * prefixes to look at.
 */
typedef enum CoverKind
{
	COVER_EXACT,				/* one table, by all bits: only for radius 0 */
	COVER_PREFIXES,				/* all tables, by their prefixes */
	COVER_BLOCKS,				/* a table for each block, by that block */
	COVER_SHORT,				/* a table for each block, by some of its bits */
	COVER_THROUGH				/* one table, read through */
} CoverKind;

#define COVER_KINDS		(COVER_THROUGH + 1)

typedef struct CoverTable
{
	int			table;			/* of the design */
	int			nbits;			/* at the beginning of its keys, by which it is
								 * probed */
	uint64		mask;			/* the same bits, of a fingerprint */
} CoverTable;

typedef struct Cover
{
	CoverKind	kind;
	DesignOptions design;
	int			ntables;
	CoverTable	table[DESIGN_MAX_TABLES];
} Cover;

/* A cover of each kind, for so many rows. */
typedef struct Covers
{
	double		nrows;
	Cover		kind[COVER_KINDS];
} Covers;

/* Entries of a leaf, at an estimate: it is between full and half full. */
#define ENTRIES_PER_LEAF		400

/* For a search whose cost does not matter: rows are many. */
#define ROWS_UNKNOWN			1e18

extern void cover_init(Cover *cover, const Design *design, CoverKind kind, double nrows);
extern bool cover_reaches(const Cover *cover, int radius);
extern int	cover_flips(const Cover *cover, int i, int radius);
extern void covers_init(Covers *covers, const Design *design, double nrows);
extern const Cover *covers_choose(const Covers *covers, int radius, double *cost);
extern double cover_cost(const Cover *cover, int radius, double nrows, double limit);
extern int	cover_count_tables(const Cover *cover, int radius);
extern double cover_count_probes(const Cover *cover, int radius);
extern double cover_count_entries(const Cover *cover, int radius, double nrows);

/*
 * Whether there is nothing to choose: one probe of each table is enough, and no
 * cover has fewer tables.
 */
static inline bool
cover_is_obvious(const Design *design, int radius)
{
	return design->options.prefix == 1 && design->options.nested == 1 &&
		radius < design->ntables;
}

#endif							/* SIMHASH_COVER_H */
