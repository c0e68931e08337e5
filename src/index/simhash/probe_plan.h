/*
 * Probe plans: ways to search a design, their costs, and the key ranges that they read
 *
 * Pure computation: no buffers, no catalogs.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PROBE_PLAN_H
#define SIMHASH_PROBE_PLAN_H

#include "index/simhash/design.h"

/*
 * The kinds of probe plans.  A probe plan is a way to search a design.  It contains the
 * permuted tables to probe, and for each of them the length of the key prefixes.
 */
typedef enum ProbePlanKind
{
	PROBE_PLAN_EXACT,			/* one permuted table, by all 64 bits.  Only for
								 * radius 0. */
	PROBE_PLAN_PREFIXES,		/* all permuted tables, by their prefixes */
	PROBE_PLAN_BLOCKS,			/* one permuted table for each block, by the bits
								 * of that block */
	PROBE_PLAN_SHORT,			/* one permuted table for each block, by the first
								 * bits of that block */
	PROBE_PLAN_FULL				/* all entries of one permuted table */
} ProbePlanKind;

#define PROBE_PLAN_KINDS		(PROBE_PLAN_FULL + 1)

/* A permuted table that a probe plan probes. */
typedef struct ProbedTable
{
	int			table;			/* index of the permuted table in the design */
	int			nbits;			/* length in bits of the key prefixes that are
								 * probed */
	uint64		mask;			/* bits of a fingerprint that form this prefix */
} ProbedTable;

/* A probe plan for an index of this design. */
typedef struct ProbePlan
{
	ProbePlanKind kind;
	DesignOptions design;
	int			ntables;		/* number of permuted tables in table[] */
	ProbedTable	table[DESIGN_MAX_TABLES];
} ProbePlan;

/* The probe plans of an index with nrows rows, one of each kind. */
typedef struct ProbePlans
{
	double		nrows;			/* number of rows of the index */
	ProbePlan	kind[PROBE_PLAN_KINDS];
	ProbePlanKind chosen;		/* the plan chosen last */
	int			chosen_radius;	/* radius for which it was chosen, in bits, or -1 */
	double		chosen_cost;	/* its cost, in leaves read */
} ProbePlans;

/* Estimated number of entries of a leaf.  Leaves are between half full and full. */
#define ENTRIES_PER_LEAF		400

/*
 * Number of rows to assume for a search whose probe plan does not depend on that number
 * (probe_plan_is_obvious): very many.
 */
#define ROWS_UNKNOWN			1e18

extern void probe_plan_init(ProbePlan *plan, const Design *design, ProbePlanKind kind,
							double nrows);
extern bool probe_plan_supports(const ProbePlan *plan, int radius);
extern int	probe_plan_max_flips(const ProbePlan *plan, int i, int radius);
extern void probe_plans_init(ProbePlans *plans, const Design *design, double nrows);
extern const ProbePlan *probe_plans_choose(ProbePlans *plans, int radius, double *cost);
extern int	probe_plan_count_tables(const ProbePlan *plan, int radius);
extern double probe_plan_count_probes(const ProbePlan *plan, int radius);
extern double probe_plan_count_entries(const ProbePlan *plan, int radius, double nrows);

/*
 * Return true if the probe plan for a radius in bits can be chosen without the number of
 * rows.  Then one probe in each of radius + 1 permuted tables finds all matches.  Only a
 * scan of one whole permuted table needs fewer permuted tables.  On a small index it may
 * cost less, but that is ignored.
 */
static inline bool
probe_plan_is_obvious(const Design *design, int radius)
{
	return design->options.prefix == 1 && design->options.nested == 1 &&
		radius < design->ntables;
}

/* A range of keys of a permuted table: a probe. */
typedef struct KeyRange
{
	int			table;			/* index of the permuted table in the design */
	int			probed;			/* index of the permuted table in the plan */
	uint64		low;			/* lowest key of the range, inclusive */
	uint64		high;			/* highest key of the range, inclusive */
} KeyRange;

/*
 * A search in progress.  It finds all fingerprints within a radius, and may then continue
 * with a larger radius.  In the i-th permuted table of the probe plan, the search probes
 * the prefixes that differ from the query's prefix in more than before[i] and at most
 * after[i] bits.  Both numbers may be -1.
 */
typedef struct Probing
{
	const Design *design;
	const ProbePlan *plan;
	SimHash		query;
	int			at;				/* index in the plan of the permuted table that is
								 * probed now */
	int			nflipped;		/* number of bits set in pattern.  before[at]
								 * before the first pattern. */
	uint64		pattern;		/* flipped prefix bits, as the highest bits of a
								 * key */
	int			before[DESIGN_MAX_TABLES];	/* for the previous radius, in bits; -1 if
											 * there was none */
	int			after[DESIGN_MAX_TABLES];	/* for this radius, in bits */
} Probing;

extern void probing_start(Probing *probing, const Design *design, const ProbePlan *plan,
						  SimHash query, int radius);
extern void probing_extend(Probing *probing, int radius);
extern bool probing_next(Probing *probing, KeyRange *range);

/*
 * Return true if the search finds a fingerprint first in the permuted table with index
 * `probed` in the probe plan.  That is so unless the search has found the fingerprint
 * within a smaller radius, or finds it in an earlier permuted table at this radius.
 * `difference` has the bits in which the fingerprint and the query differ.
 */
static inline bool
probing_is_first(const Probing *probing, int probed, uint64 difference)
{
	const ProbePlan *plan = probing->plan;

	for (int i = 0; i < plan->ntables; i++)
	{
		int			reach = i < probed ? probing->after[i] : probing->before[i];

		if (i != probed && pg_popcount64(difference & plan->table[i].mask) <= reach)
			return false;
	}
	return true;
}

#endif							/* SIMHASH_PROBE_PLAN_H */
