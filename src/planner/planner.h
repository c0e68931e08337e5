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
 * A distance that the extension computes: between fingerprints, between signatures, or of an
 * array of hashes from another.  Each has objects of its own, by name.
 */
typedef struct DistanceKind
{
	const char *symbol;			/* of the C function that computes it */
	PGFunction	function;
	const char *commuted_symbol;	/* the same of one that takes its arguments the */
	PGFunction	commuted;		/* other way round, where that makes a difference */
	Oid			result;			/* type of a distance */
	const char *type;			/* of the values; NULL: bigint[] */
	const char *ball;			/* the type of balls, and the function that makes one */
	const char *in_ball;		/* the operator of a value and a ball */
	const char *within;			/* the predicate: within(type, type, radius) */
	Oid			radius;			/* type of a ball's radius */

	/* The center and the radius of a ball.  Returns false if it has none. */
	bool		(*open_ball) (Datum ball, Datum *center, Datum *radius);
} DistanceKind;

/* Whether it makes no difference which of the two is in the index. */
static inline bool
distance_is_symmetric(const DistanceKind *kind)
{
	return kind->commuted == NULL;
}

/*
 * Objects of the extension that plans are made of.  They are looked up each
 * time by the schema of a function that a query calls: so they may stand
 * outside the search path, and DROP and CREATE EXTENSION leave nothing stale.
 */
typedef struct SimHashObjects
{
	const DistanceKind *kind;
	Oid			type;			/* simhash, minhash or bigint[] */
	Oid			ball_type;		/* simhash_ball, minhash_ball, containment_ball */
	Oid			within;			/* simhash_within, minhash_within, containment_within */
	Oid			ball;			/* the function that makes a ball */
	Oid			in_ball;		/* operator <@ or <%@ of type and ball */
	Oid			radius_float8;	/* simhash_radius(double precision) */
	Oid			radius_numeric; /* simhash_radius(numeric) */
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
extern const DistanceKind jaccard_kind;
extern const DistanceKind containment_kind;
extern bool objects_find(Oid function, const DistanceKind *kind, SimHashObjects *objects);
extern const DistanceKind *objects_distance(Oid function, bool *commuted);
extern bool objects_executable(Node *expression);
extern bool objects_searchable(const SimHashObjects *objects);

/* indexable.c */
extern bool indexable_by_relation(PlannerInfo *root, RelOptInfo *rel,
								  const SimHashObjects *objects,
								  Node *a, Node *b, Node *radius);
extern bool indexable_radius(const IndexOptInfo *index, const DistanceKind *kind,
							 Node *radius);
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
