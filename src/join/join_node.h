/*-------------------------------------------------------------------------
 *
 * join_node.h
 *		Plan node of a similarity join
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_NODE_H
#define SIMHASH_JOIN_NODE_H

#include "nodes/plannodes.h"

#include "join/join_clause.h"

/* How pairs are found. */
typedef enum JoinMethod
{
	JOIN_BY_DISTANCE			/* fingerprints within a radius */
} JoinMethod;

/*
 * What a plan node computes.  Its children are the left plan and the right plan.
 * Expressions refer to the columns of both: those of the left child first.
 */
typedef struct JoinSpec
{
	JoinType	jointype;		/* JOIN_INNER, JOIN_LEFT, JOIN_SEMI or JOIN_ANTI */
	JoinMethod	method;
	Expr	   *left_key;		/* of the left child's columns alone */
	Expr	   *right_key;		/* of the right child's columns alone */
	Expr	   *radius;			/* int8; refers to no column */
	List	   *left_equal;		/* expressions to hash, of the left child's columns */
	List	   *right_equal;
	List	   *equal_operators;	/* OIDs, the left expression first */
	List	   *equal_collations;	/* OIDs */
	List	   *clauses;		/* expressions that decide a match; an exact distance is
								 * left out */
	List	   *distance_clauses;	/* the distance as the query has it */
} JoinSpec;

extern CustomScan *join_node_make(JoinType jointype, const RelOptInfo *joinrel,
								  const JoinClauses *clauses, List *tlist, List *children);
extern void join_read_spec(const CustomScan *scan, JoinSpec *spec);

#endif							/* SIMHASH_JOIN_NODE_H */
