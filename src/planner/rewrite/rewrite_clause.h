/*
 * Rewrite clauses that compare a distance, or arrays
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_REWRITE_CLAUSE_H
#define SIMHASH_REWRITE_CLAUSE_H

#include "nodes/pathnodes.h"

/* A rewrite of the clauses of a query level, while the planner builds a relation. */
typedef struct Rewrite
{
	PlannerInfo *root;
	RelOptInfo *rel;			/* the relation */
	List	   *appinfos;		/* if it is a child: AppendRelInfos from the parent that the
								 * clauses reference down to it */
	bool		only_arrays;	/* true if comparisons of distances are rewritten elsewhere */

	/* Arguments and result of the last call of compared_elsewhere(), a cache */
	Oid			callee_class;
	Oid			callee;
	Index		relid;
	bool		compared;

	/* Relations that were tested, and those that are foreign, a cache */
	Relids		tested;
	Relids		foreign;
} Rewrite;

extern List *rewrite_list(Rewrite *rewrite, List *clauses);

#endif							/* SIMHASH_REWRITE_CLAUSE_H */
