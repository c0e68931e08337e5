/*-------------------------------------------------------------------------
 *
 * cost.c
 *		Cost of an index scan
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/selfuncs.h"

#include "index/handler.h"

/*
 * amcostestimate
 */
void
simhash_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
					 Cost *startup_cost, Cost *total_cost,
					 Selectivity *selectivity, double *correlation,
					 double *pages)
{
	GenericCosts costs = {0};

	genericcostestimate(root, path, loop_count, &costs);
	*startup_cost = costs.indexStartupCost;
	*total_cost = costs.indexTotalCost;
	*selectivity = costs.indexSelectivity;
	*correlation = costs.indexCorrelation;
	*pages = costs.numIndexPages;
}
