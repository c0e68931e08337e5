/*-------------------------------------------------------------------------
 *
 * objects.h
 *		The extension's own functions, types and operators
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_OBJECTS_H
#define SIMHASH_OBJECTS_H

/*
 * A distance by which an index can search: between fingerprints, or of an array of hashes
 * from another.
 */
typedef struct Distance
{
	bool		symmetric;		/* whether either argument may be in the index */
	Oid			radius_type;	/* type of a ball's radius */

	/* The center and the radius of a ball.  Returns false if it has none. */
	bool		(*open_ball) (Datum ball, Datum *center, Datum *radius);
} Distance;

/*
 * Objects of the extension that plans are made of, or that plans stand in for.  A
 * function that a distance does not have is InvalidOid.
 */
typedef struct SimHashObjects
{
	const Distance *distance;
	Oid			type;			/* simhash or bigint[] */
	Oid			ball_type;		/* simhash_ball or containment_ball */
	Oid			distance_function;	/* hamming_distance or containment_distance */
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

extern const Distance distance_hamming;
extern const Distance distance_containment;
extern void objects_init(void);
extern bool objects_find(const Distance *distance, SimHashObjects *objects);
extern const Distance *objects_distance(Oid function, bool *commuted);
extern Oid	objects_search_operator(const SimHashObjects *objects, Oid opfamily);

#endif							/* SIMHASH_OBJECTS_H */
