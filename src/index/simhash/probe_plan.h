/*-------------------------------------------------------------------------
 *
 * probe_plan.h
 *		Probe plans: ways to search a design, and what each costs
 *
 * Pure computation: no buffers, no catalogs.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PROBE_PLAN_H
#define SIMHASH_PROBE_PLAN_H

#include "index/simhash/design.h"

/*
 * A probe plan is a way to search a design: permuted tables of it, and how much of their
 * prefixes to look at.
 */
typedef enum ProbePlanKind
{
	PROBE_PLAN_EXACT,			/* one permuted table, by all bits: only for
								 * radius 0 */
	PROBE_PLAN_PREFIXES,		/* all permuted tables, by their prefixes */
	PROBE_PLAN_BLOCKS,			/* a permuted table for each block, by that
								 * block */
	PROBE_PLAN_SHORT,			/* a permuted table for each block, by some of
								 * its bits */
	PROBE_PLAN_FULL				/* one permuted table, all of it */
} ProbePlanKind;

#define PROBE_PLAN_KINDS		(PROBE_PLAN_FULL + 1)

typedef struct ProbedTable
{
	int			table;			/* index of the permuted table in the design */
	int			nbits;			/* at the beginning of its keys, by which it is
								 * probed */
	uint64		mask;			/* the same bits, of a fingerprint */
} ProbedTable;

typedef struct ProbePlan
{
	ProbePlanKind kind;
	DesignOptions design;
	int			ntables;
	ProbedTable	table[DESIGN_MAX_TABLES];
} ProbePlan;

/* A probe plan of each kind, for so many rows. */
typedef struct ProbePlans
{
	double		nrows;
	ProbePlan	kind[PROBE_PLAN_KINDS];
} ProbePlans;

/* Entries of a leaf, at an estimate: it is between full and half full. */
#define ENTRIES_PER_LEAF		400

/* For a search whose cost does not matter: rows are many. */
#define ROWS_UNKNOWN			1e18

extern void probe_plan_init(ProbePlan *plan, const Design *design, ProbePlanKind kind,
							double nrows);
extern bool probe_plan_supports(const ProbePlan *plan, int radius);
extern int	probe_plan_max_flips(const ProbePlan *plan, int i, int radius);
extern void probe_plans_init(ProbePlans *plans, const Design *design, double nrows);
extern const ProbePlan *probe_plans_choose(const ProbePlans *plans, int radius, double *cost);
extern double probe_plan_cost(const ProbePlan *plan, int radius, double nrows, double limit);
extern int	probe_plan_count_tables(const ProbePlan *plan, int radius);
extern double probe_plan_count_probes(const ProbePlan *plan, int radius);
extern double probe_plan_count_entries(const ProbePlan *plan, int radius, double nrows);

/*
 * Whether there is nothing to choose: one probe of each permuted table is enough,
 * and no probe plan has fewer of them.
 */
static inline bool
probe_plan_is_obvious(const Design *design, int radius)
{
	return design->options.prefix == 1 && design->options.nested == 1 &&
		radius < design->ntables;
}

#endif							/* SIMHASH_PROBE_PLAN_H */
