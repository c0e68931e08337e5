/*-------------------------------------------------------------------------
 *
 * probe.h
 *		Which entries of which tables are looked at, to find everything within
 *		a radius
 *
 * Pure computation: no buffers, no catalogs.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PROBE_H
#define SIMHASH_PROBE_H

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
	COVER_SHORT,				/* the same, by some bits of that block */
	COVER_THROUGH				/* one table, read through */
} CoverKind;

#define COVER_KINDS		(COVER_THROUGH + 1)

typedef struct CoverTable
{
	int			table;			/* of the design */
	int			nbits;			/* of its keys are looked at */
	uint64		mask;			/* the same bits of a fingerprint */
} CoverTable;

typedef struct Cover
{
	CoverKind	kind;
	DesignOptions design;
	int			ntables;
	CoverTable	table[DESIGN_MAX_TABLES];
} Cover;

/* One of each kind, for so many rows. */
typedef struct Covers
{
	double		nrows;
	Cover		kind[COVER_KINDS];
} Covers;

/* A range of the keys of a table, inclusive. */
typedef struct KeyRange
{
	int			table;			/* of the design */
	int			probed;			/* the same one, of the cover */
	uint64		low;
	uint64		high;
} KeyRange;

/*
 * A search in progress.  It finds everything within a radius, then may go on to
 * the next one: in each table of the cover, prefixes that differ from the query's
 * in more than before[i] bits and at most after[i] are still to be looked at.
 */
typedef struct Probing
{
	const Design *design;
	const Cover *cover;
	SimHash		query;
	int			at;				/* table of the cover */
	int			nflipped;		/* bits of the pattern, or -1 before the first one */
	uint64		pattern;		/* prefix bits flipped, as the highest of a key */
	int			before[DESIGN_MAX_TABLES];
	int			after[DESIGN_MAX_TABLES];
} Probing;

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

extern void probing_start(Probing *probing, const Design *design, const Cover *cover,
						  SimHash query, int radius);
extern void probing_extend(Probing *probing, int radius);
extern bool probing_next(Probing *probing, KeyRange *range);

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

/*
 * Whether a fingerprint that differs from the query's by the bits of
 * `difference`, found in a table of the cover, was not found before, nor will
 * be found in an earlier table.
 */
static inline bool
probing_is_first(const Probing *probing, int probed, uint64 difference)
{
	const Cover *cover = probing->cover;

	for (int i = 0; i < cover->ntables; i++)
	{
		int			reach = i < probed ? probing->after[i] : probing->before[i];

		if (i != probed && pg_popcount64(difference & cover->table[i].mask) <= reach)
			return false;
	}
	return true;
}

#endif							/* SIMHASH_PROBE_H */
