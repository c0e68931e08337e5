/*
 * Rewrite a clause, so that an index of a table can serve it
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_REWRITE_CLAUSE_H
#define SIMHASH_REWRITE_CLAUSE_H

#include "nodes/pathnodes.h"

/*
 * The table that clauses are rewritten for.  If the table is a child, the clauses
 * reference one of its parents.  A child is a partition, an inheritance child or a member
 * of a UNION ALL.
 */
typedef struct Rewrite
{
	PlannerInfo *root;
	RelOptInfo *rel;
	List	   *appinfos;		/* AppendRelInfos from the parent that the clauses
								 * reference down to the table */
	bool		for_siblings;	/* true if the clauses also apply to other children */

	/* Arguments and result of the last call of compared_elsewhere(), a cache */
	Oid			callee_class;
	Oid			callee;
	bool		compared;

	List	   *hashes;			/* hash values of the calls of simhash_within made so far */
} Rewrite;

extern List *calls_of(List *clauses);
extern List *rewrite_clause(Rewrite *rewrite, List *result, List *calls, Node *clause);
extern List *rewrite_list(Rewrite *rewrite, List *clauses);

#endif							/* SIMHASH_REWRITE_CLAUSE_H */
