/*-------------------------------------------------------------------------
 *
 * predicate.h
 *		What an estimate is about: two values, and how far apart they may be
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PREDICATE_H
#define SIMHASH_PREDICATE_H

#include "nodes/pathnodes.h"

#include "planner/rewrite/objects.h"

/* The radius assumed where it is not known while planning: an everyday one. */
#define UNKNOWN_RADIUS			8

#define UNKNOWN_FRACTION_RADIUS	0.5

/* distance(a, b) <= radius; or, without a distance, that two signatures share a band */
typedef struct Predicate
{
	const Distance *distance;
	Oid			type;			/* of signatures; InvalidOid: values of 64 bits */
	Oid			ball;			/* type of balls, which a and b may be columns of */
	Oid			function;		/* that computes it: may it see statistics? */
	Node	   *a;
	Node	   *b;				/* NULL: some unknown constant */
	Node	   *radius;			/* NULL: unknown */
} Predicate;

extern Predicate predicate_of_band(Oid function, List *args);
extern bool predicate_read_ball(PlannerInfo *root, const Distance *distance, Oid operator,
								List *args, Predicate *predicate, Selectivity *otherwise);
extern Node *predicate_ball_radius(Node *ball);
extern int	predicate_radius(PlannerInfo *root, Node *radius, bool *known);
extern double predicate_fraction_radius(PlannerInfo *root, Node *radius, bool *known);

#endif							/* SIMHASH_PREDICATE_H */
