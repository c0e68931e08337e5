/*-------------------------------------------------------------------------
 *
 * selectivity.h
 *		How many rows lie within a distance
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SELECTIVITY_H
#define SIMHASH_SELECTIVITY_H

#include "nodes/pathnodes.h"

#include "planner/planner.h"

/* The radius assumed where it is not known while planning: an everyday one. */
#define UNKNOWN_RADIUS			8

#define UNKNOWN_JACCARD_RADIUS	0.1

#define UNKNOWN_SHARE_MISSING	0.5

/* distance(a, b) <= radius; or that two signatures share a band */
typedef struct Predicate
{
	const DistanceKind *kind;
	Oid			type;			/* of the values; InvalidOid: any of 64 bits */
	Oid			ball;			/* type of balls, which a and b may be columns of */
	bool		by_band;
	Oid			function;		/* that computes it: may it see statistics? */
	Node	   *a;
	Node	   *b;				/* NULL: some unknown constant */
	Node	   *radius;			/* NULL: unknown */
} Predicate;

extern bool selectivity_read_ball(PlannerInfo *root, const DistanceKind *kind,
								  Oid operator, List *args, Predicate *predicate,
								  Selectivity *otherwise);
extern Node *selectivity_ball_radius(Node *ball);
extern int	selectivity_radius(PlannerInfo *root, Node *radius, bool *known);
extern double selectivity_share_radius(PlannerInfo *root, const DistanceKind *kind,
									   Node *radius, bool *known);
extern int	selectivity_nearest_radius(double nrows);
extern Selectivity selectivity_of_restriction(PlannerInfo *root,
											  const Predicate *predicate,
											  int varRelid);
extern Selectivity selectivity_of_join(PlannerInfo *root,
									   const Predicate *predicate,
									   JoinType jointype,
									   SpecialJoinInfo *sjinfo);

#endif							/* SIMHASH_SELECTIVITY_H */
