/*-------------------------------------------------------------------------
 *
 * join_clause.h
 *		Clauses of a similarity join: the distance, equalities and others
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_CLAUSE_H
#define SIMHASH_JOIN_CLAUSE_H

#include "nodes/pathnodes.h"

#include "join/join_sizes.h"

/*
 * The clauses of a join of two relations, left and right.
 */
typedef struct JoinClauses
{
	JoinMethod	method;
	RestrictInfo *distance;		/* the clause that bounds the distance, or %, which needs a
								 * band in common */
	bool		exact;			/* true if `distance` is equivalent to being within the
								 * radius, or is % */
	bool		is_swapped;		/* true if the right key is its first argument */
	Oid			function;		/* function of %, if the method is JOIN_BY_BANDS */
	Expr	   *left_key;		/* fingerprint or signature of a left row, as an expression */
	Expr	   *right_key;		/* the same of a right row */
	Expr	   *radius;			/* depends on neither side; of type int8; NULL for % */
	int			bits;			/* the radius, or UNKNOWN_RADIUS if the planner does not
								 * know it */

	/*
	 * Equalities that can be hashed.  `equal` has the RestrictInfos.  The other lists have
	 * the arguments, operators and collations of the same equalities.
	 */
	List	   *equal;
	List	   *left_equal;
	List	   *right_equal;
	List	   *equal_operators;	/* OIDs; the left row has the left argument */
	List	   *equal_collations;	/* OIDs */

	/* Lists of RestrictInfos, in the order of evaluation */
	List	   *match;			/* clauses that decide which pairs match; includes
								 * `distance` only if it is not exact */
	List	   *filter;			/* clauses tested above an outer join */
} JoinClauses;

extern bool join_clause_read(PlannerInfo *root, JoinType jointype, RelOptInfo *joinrel,
							 RelOptInfo *left, RelOptInfo *right, List *restrictlist,
							 JoinClauses *clauses);

#endif							/* SIMHASH_JOIN_CLAUSE_H */
