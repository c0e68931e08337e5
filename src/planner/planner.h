/*-------------------------------------------------------------------------
 *
 * planner.h
 *		What the planner is told about distances, by file
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PLANNER_H
#define SIMHASH_PLANNER_H

#include "nodes/pathnodes.h"

/*
 * Objects of the extension that plans are made of.  They are looked up each
 * time by the schema of a function that a query calls: so they may stand
 * outside the search path, and DROP and CREATE EXTENSION leave nothing stale.
 */
typedef struct SimHashObjects
{
	Oid			type;			/* simhash */
	Oid			ball_type;		/* simhash_ball */
	Oid			within;			/* simhash_within(simhash, simhash, bigint) */
	Oid			ball;			/* simhash_ball(simhash, bigint) */
	Oid			radius_float8;	/* simhash_radius(double precision) */
	Oid			radius_numeric; /* simhash_radius(numeric) */
	Oid			in_ball;		/* operator simhash <@ simhash_ball */
} SimHashObjects;

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

/* objects.c */
extern bool objects_find(Oid function, SimHashObjects *objects);
extern bool objects_is_distance(Oid function);
extern bool objects_executable(Node *expression);
extern bool objects_searchable(const SimHashObjects *objects);

/* indexable.c */
extern bool indexable_by_relation(PlannerInfo *root, RelOptInfo *rel,
								  const SimHashObjects *objects,
								  Node *a, Node *b, Node *bound);
extern bool indexable_family_seen(RelOptInfo *rel);
extern bool compared_elsewhere(PlannerInfo *root, RelOptInfo *rel,
							   const Comparison *comparison);

/* comparison.c */
extern bool read_comparison(Node *clause, Comparison *comparison);

/* bound.c */
extern bool bound_type_known(Oid type);
extern Expr *bound_radius(const Comparison *comparison, bool *exact);

/* rewrite.c */
extern void rewrite_init(void);

#endif							/* SIMHASH_PLANNER_H */
