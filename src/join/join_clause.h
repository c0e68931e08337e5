/*-------------------------------------------------------------------------
 *
 * join_clause.h
 *		Clauses of a similarity join: its distance, its equalities and the others
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_CLAUSE_H
#define SIMHASH_JOIN_CLAUSE_H

#include "nodes/pathnodes.h"

/*
 * The clauses of a join of two relations, left and right.
 */
typedef struct JoinClauses
{
	RestrictInfo *distance;		/* the clause that bounds the distance */
	bool		exact;			/* true if it is equivalent to being within the radius */
	Expr	   *left_key;		/* fingerprint of a left row */
	Expr	   *right_key;		/* fingerprint of a right row */
	Expr	   *radius;			/* int8, depends on neither side */
	int			bits;			/* the radius, or an assumed one if it is not known */

	/* Equalities that can be hashed: RestrictInfos, and what they are made of */
	List	   *equal;
	List	   *left_equal;
	List	   *right_equal;
	List	   *equal_operators;	/* OIDs, left argument first */
	List	   *equal_collations;	/* OIDs */

	/* RestrictInfos in the order of evaluation */
	List	   *match;			/* decide which rows match; the distance only if it is
								 * not exact */
	List	   *filter;			/* tested above an outer join */
} JoinClauses;

extern bool join_clause_read(PlannerInfo *root, JoinType jointype, RelOptInfo *joinrel,
							 RelOptInfo *left, RelOptInfo *right, List *restrictlist,
							 JoinClauses *clauses);

#endif							/* SIMHASH_JOIN_CLAUSE_H */
