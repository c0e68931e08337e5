/*
 * Probe plans: ways to search a design, and their costs
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

#endif							/* SIMHASH_PROBE_PLAN_H */
