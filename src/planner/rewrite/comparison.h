/*-------------------------------------------------------------------------
 *
 * comparison.h
 *		Reading a comparison of a distance with a number
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
 * A comparison of a distance with a bound, read from left to right:
 * distance(a, b) < bound, or <= or =.
 */
typedef struct Comparison
{
	SimHashObjects objects;
	Node	   *a;
	Node	   *b;
	Node	   *bound;			/* a number */
	int			strategy;		/* of a btree */
	Oid			spelling_class; /* catalog and OID of the function or the */
	Oid			spelling;		/* operator, as written */
} Comparison;

extern bool read_comparison(Node *clause, Comparison *comparison);

#endif							/* SIMHASH_COMPARISON_H */
