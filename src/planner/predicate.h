/*
 * The predicate that is estimated: two values, and how near they must be
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PREDICATE_H
#define SIMHASH_PREDICATE_H

#include "nodes/pathnodes.h"

#include "planner/objects.h"

/*
 * Radius in bits to assume if the planner does not know the radius.  8 is a common choice.
 */
#define UNKNOWN_RADIUS			8

/*
 * Radius to assume if the distance is a fraction and the planner does not know the radius.
 */
#define UNKNOWN_FRACTION_RADIUS	0.5

/*
 * The predicate distance(a, b) <= radius, or distance(a, b) = radius.  If distance is
 * NULL, the predicate is that two signatures share a band.
 */
typedef struct Predicate
{
	const Distance *distance;
	Oid			type;			/* type of signatures, or InvalidOid for values of 64 bits */
	Oid			ball;			/* type of balls, or InvalidOid if neither a nor b may be a
								 * column of balls */
	Oid			function;		/* OID of the function that computes the predicate;
								 * statistics are used only if it may see them */
	Node	   *a;
	Node	   *b;				/* NULL for an unknown constant */
	Node	   *radius;			/* NULL if unknown */
	bool		equality;		/* true if only pairs at exactly this distance match */
} Predicate;

extern Predicate predicate_of_band(Oid function, List *args);
extern Predicate predicate_of_overlap(Oid function, List *args);
extern bool predicate_read_within(Oid function, List *args, Predicate *predicate);
extern bool predicate_read_bound(Node *clause, Predicate *predicate, bool *exact);
extern bool predicate_read_ball(PlannerInfo *root, const Distance *distance, Oid operator,
								List *args, Predicate *predicate, Selectivity *otherwise);
extern bool predicate_has_pair(const Predicate *predicate, Node *a, Node *b);
extern Node *make_constant(Oid type, Datum value);
extern Node *predicate_ball_radius(Node *ball);
extern int	predicate_radius(PlannerInfo *root, Node *radius, bool *known);
extern double predicate_fraction_radius(PlannerInfo *root, Node *radius, bool *known);

#endif							/* SIMHASH_PREDICATE_H */
