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

#include "fmgr.h"
#include "nodes/pathnodes.h"

/*
 * A distance by which an index can search: between fingerprints, or of an array of hashes
 * from another.
 */
typedef struct DistanceKind
{
	bool		symmetric;		/* whether either argument may be in the index */
	Oid			radius;			/* type of a ball's radius */

	/* The center and the radius of a ball.  Returns false if it has none. */
	bool		(*open_ball) (Datum ball, Datum *center, Datum *radius);
} DistanceKind;

/*
 * Objects of the extension that plans are made of, or that plans stand in for.  A
 * function that a distance does not have is InvalidOid.
 */
typedef struct SimHashObjects
{
	const DistanceKind *kind;
	Oid			type;			/* simhash or bigint[] */
	Oid			ball_type;		/* simhash_ball or containment_ball */
	Oid			distance;		/* hamming_distance or containment_distance */
	Oid			commuted;		/* the same with its arguments the other way round */
	Oid			within;			/* simhash_within or containment_within */
	Oid			ball;			/* the function that makes a ball */
	Oid			in_ball;		/* of the operator <@ or <%@ */
	Oid			ball_contains;	/* of its commutator @> */
	Oid			radius_float8;	/* simhash_radius(double precision) */
	Oid			radius_numeric; /* simhash_radius(numeric) */
	bool		incomplete;		/* one of the functions was not found */
	bool		restricted;		/* one of the functions has privileges of its own */
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
extern const DistanceKind hamming_kind;
extern const DistanceKind containment_kind;
extern void objects_init(void);
extern bool objects_find(const DistanceKind *kind, SimHashObjects *objects);
extern const DistanceKind *objects_distance(Oid function, bool *commuted);
extern Oid	objects_search_operator(const SimHashObjects *objects, Oid opfamily);

/* privileges.c */
extern bool privileges_matter;
extern bool privileges_suffice(PlannerInfo *root, Node *expression);
extern bool privileges_suffice_for_search(PlannerInfo *root, const SimHashObjects *objects);
extern void privileges_hide_indexes(PlannerInfo *root, RelOptInfo *rel);

/* indexable.c */
extern bool indexable_by_relation(PlannerInfo *root, RelOptInfo *rel,
								  const SimHashObjects *objects,
								  Node *a, Node *b, Node *radius);
extern bool indexable_family_seen(RelOptInfo *rel);
extern bool compared_elsewhere(PlannerInfo *root, RelOptInfo *rel,
							   const Comparison *comparison);

/* comparison.c */
extern bool read_comparison(Node *clause, Comparison *comparison);

/* bound.c */
extern bool bound_type_known(const DistanceKind *kind, Oid type);
extern Expr *bound_radius(const Comparison *comparison, bool *exact);

/* gist_cost.c */
extern void gist_cost_init(RelOptInfo *rel);

/* rewrite.c */
extern void rewrite_init(void);

#endif							/* SIMHASH_PLANNER_H */
