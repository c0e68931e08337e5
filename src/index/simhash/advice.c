/*
 * simhash_index_advice: designs for a number of rows and a radius
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "funcapi.h"
#include "utils/float.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "index/simhash/probe_plan.h"

#define ADVICE_COLUMNS	9

/*
 * Cost of a search of an index that is in memory, and size of a new index.  These are
 * fitted to the measurements in docs/performance.md.
 */
#define SEARCH_US		2.0		/* microseconds of a search, besides its leaves */
#define LEAF_US			0.72	/* microseconds of each leaf that is read */
#define ENTRY_BYTES		15.8	/* bytes of the index for each entry */

/*
 * A design is fast enough if its search takes at most this many times as long as that of
 * the fastest design.  The smallest design that is fast enough is advised.
 */
#define WORTHWHILE		2.0

/* A design, and the estimate of a search of an index of this design. */
typedef struct Advice
{
	DesignOptions options;
	int			ntables;		/* number of permuted tables of the index */
	double		probes;			/* number of probes */
	double		entries;		/* number of entries read */
	double		us;				/* time in microseconds */
} Advice;

/* Upper limit of the number of valid designs that a user can choose. */
#define MAX_DESIGNS		256

/*
 * Return an estimate of a search within a radius, in bits.  The index has nrows rows and
 * the design with these options.
 */
static Advice
estimate_design(const DesignOptions *options, double nrows, int radius)
{
	Advice		advice = {.options = *options};
	Design		design;
	ProbePlans	plans;
	const ProbePlan *plan;
	double		cost;

	design_init(&design, options);
	probe_plans_init(&plans, &design, nrows);
	plan = probe_plans_choose(&plans, radius, &cost);
	advice.ntables = design.ntables;
	advice.probes = probe_plan_count_probes(plan, radius);
	advice.entries = probe_plan_count_entries(plan, radius, nrows);
	advice.us = SEARCH_US + LEAF_US * cost;
	return advice;
}

/*
 * Compare by number of permuted tables, then by time, then by prefix + nested, so that
 * the simplest design comes first.  For qsort().
 */
static int
compare_advice(const void *a, const void *b)
{
	const Advice *x = a;
	const Advice *y = b;

	if (x->ntables != y->ntables)
		return x->ntables - y->ntables;
	if (x->us != y->us)
		return x->us < y->us ? -1 : 1;
	return x->options.prefix + x->options.nested - y->options.prefix - y->options.nested;
}

/*
 * Fill in advice[], whose length is MAX_DESIGNS, with an estimate for each valid design
 * that a user can choose, sorted by number of permuted tables (compare_advice).  Returns
 * the number of designs.
 */
static int
estimate_designs(Advice *advice, double nrows, int radius)
{
	DesignOptions options;
	int			n = 0;

	for (options.blocks = DESIGN_MIN_BLOCKS; options.blocks <= DESIGN_MAX_BLOCKS; options.blocks++)
		for (options.prefix = 1; options.prefix < options.blocks; options.prefix++)
			for (options.nested = 1; options.nested <= DESIGN_MAX_NESTED; options.nested++)
				if (design_is_valid(&options))
				{
					Assert(n < MAX_DESIGNS);
					advice[n++] = estimate_design(&options, nrows, radius);
				}
	qsort(advice, n, sizeof(Advice), compare_advice);
	return n;
}

/*
 * Add a row about a design to the result.  The index has nrows rows.
 */
static void
put_advice(ReturnSetInfo *result, const Advice *advice, double nrows, bool advised)
{
	Datum		values[ADVICE_COLUMNS];
	bool		nulls[ADVICE_COLUMNS] = {0};
	double		bytes = ENTRY_BYTES * advice->ntables * nrows;

	values[0] = Int32GetDatum(advice->options.blocks);
	values[1] = Int32GetDatum(advice->options.prefix);
	values[2] = Int32GetDatum(advice->options.nested);
	values[3] = Int32GetDatum(advice->ntables);
	values[4] = Int64GetDatum(bytes < (double) PG_INT64_MAX ? (int64) bytes : PG_INT64_MAX);
	values[5] = Float8GetDatum(rint(advice->probes));
	values[6] = Float8GetDatum(rint(advice->entries));
	values[7] = Float8GetDatum(rint(advice->us * 10) / 10);
	values[8] = BoolGetDatum(advised);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * simhash_index_advice(bigint, bigint): return the designs for a number of rows and a
 * radius in bits, the smallest first (compare_advice).  Skips designs that are no faster
 * than a design returned before.  Advises the smallest design whose time is at most
 * WORTHWHILE times that of the fastest.
 */
PG_FUNCTION_INFO_V1(simhash_index_advice);
Datum
simhash_index_advice(PG_FUNCTION_ARGS)
{
	int64		nrows = PG_GETARG_INT64(0);
	int64		radius = PG_GETARG_INT64(1);
	Advice		advice[MAX_DESIGNS];
	int			n;
	double		fastest = get_float8_infinity();
	double		fastest_yet = get_float8_infinity();
	bool		advised = false;

	if (nrows < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of rows must not be negative"),
				 errhint("Give the number of rows that the table has, or will have.")));
	if (radius < 0 || radius > SIMHASH_BITS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("radius must be between %d and %d", 0, SIMHASH_BITS),
				 errhint("A radius is a number of bits, as in fp <~> q <= 3.")));

	InitMaterializedSRF(fcinfo, 0);
	n = estimate_designs(advice, nrows, radius);
	for (int i = 0; i < n; i++)
		fastest = Min(fastest, advice[i].us);
	for (int i = 0; i < n; i++)
	{
		bool		enough = advice[i].us <= WORTHWHILE * fastest;

		if (advice[i].us >= fastest_yet)
			continue;
		fastest_yet = advice[i].us;
		put_advice((ReturnSetInfo *) fcinfo->resultinfo, &advice[i], nrows,
				   enough && !advised);
		advised |= enough;
	}
	return (Datum) 0;
}
