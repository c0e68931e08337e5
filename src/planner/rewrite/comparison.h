/*-------------------------------------------------------------------------
 *
 * comparison.h
 *		Read comparisons of a distance with a number
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_COMPARISON_H
#define SIMHASH_COMPARISON_H

#include "nodes/primnodes.h"

#include "planner/rewrite/objects.h"

/*
 * A comparison of a distance with a bound: distance(a, b) < bound, or <= or =.  If the
 * query has the distance on the right, the comparison is commuted.
 */
typedef struct Comparison
{
	SimHashObjects objects;
	Node	   *a;
	Node	   *b;
	Node	   *bound;			/* a number of any type */
	int			strategy;		/* btree strategy number */
	Oid			spelling_class; /* pg_operator or pg_proc: how the distance is written */
	Oid			spelling;		/* OID of this operator or function */
} Comparison;

extern bool read_comparison(Node *clause, Comparison *comparison);

#endif							/* SIMHASH_COMPARISON_H */
