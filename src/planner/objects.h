/*
 * The extension's own functions, types and operators
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_OBJECTS_H
#define SIMHASH_OBJECTS_H

#include "nodes/pathnodes.h"

/*
 * A distance that an index can search by: the Hamming distance of fingerprints, or the
 * containment distance or Jaccard distance of arrays of hashes.
 */
typedef struct Distance
{
	bool		of_arrays;		/* true for distances of arrays of hashes */
	bool		symmetric;		/* true if either argument may be the index column */
	Oid			radius_type;	/* type of a ball's radius */
	int			within_strategy;	/* strategy of the operator that searches within a ball */
} Distance;

/*
 * Objects of the extension that belong to a distance and that occur in clauses or plans.
 * Functions that the distance does not have are InvalidOid.
 */
typedef struct SimHashObjects
{
	const Distance *distance;	/* NULL for signatures that share a band */
	Oid			type;			/* simhash or bigint[] */
	Oid			ball_type;		/* simhash_ball or sketch_ball */
	Oid			distance_function;	/* hamming_distance, containment_distance or
									 * jaccard_distance */
	Oid			within;			/* simhash_within, containment_within or jaccard_within; for
								 * signatures, shares_band */
	Oid			between;		/* simhash_between, containment_between or jaccard_between */
	Oid			ball;			/* function that makes a ball */
	Oid			in_ball;		/* function of the operator <@, <%>@ or <%@ */
	Oid			radius_float8;	/* simhash_radius(double precision) */
	Oid			radius_numeric; /* simhash_radius(numeric) */
	Oid			below_float8;	/* simhash_radius_below(double precision) */
	Oid			below_numeric;	/* simhash_radius_below(numeric) */
	Oid			fraction_below; /* sketch_radius_below */
	Oid			beside;			/* simhash_beside */
	Oid			overlaps;		/* sketch_overlaps, which replaces && */
	Oid			contained;		/* sketch_contained, which replaces <@ */
	bool		incomplete;		/* true if a function was not found */
} SimHashObjects;

extern const Distance distance_hamming;
extern const Distance distance_containment;
extern const Distance distance_jaccard;

extern bool distance_open_ball(const Distance *distance, Datum ball, Datum *center,
							   Datum *radius);
extern void objects_init(void);
extern bool objects_find(const Distance *distance, SimHashObjects *objects);
extern bool objects_find_condition(Oid function, SimHashObjects *objects);
extern Oid	objects_beside(void);
extern const Distance *objects_distance(Oid function);
extern const Distance *objects_distance_of_ball(Oid type, Oid function);
extern const SimHashObjects *objects_of_signatures(void);
extern Oid	objects_search_operator(const SimHashObjects *objects, Oid opfamily);

/* bound.c */
extern Node *make_constant(Oid type, Datum value);
extern Expr *bound_radius(const SimHashObjects *objects, Node *bound, bool below);
extern void bound_check_unit(bool of_bits, Node *bound);

#endif							/* SIMHASH_OBJECTS_H */
