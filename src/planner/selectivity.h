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

/* The radius assumed where it is not known while planning: an everyday one. */
#define UNKNOWN_RADIUS			8

/* distance(a, b) <= radius */
typedef struct Predicate
{
	Oid			function;		/* that computes it: may it see statistics? */
	Node	   *a;
	Node	   *b;				/* NULL: some unknown constant */
	Node	   *radius;			/* a bigint; NULL: unknown */
} Predicate;

extern bool selectivity_read_ball(PlannerInfo *root, Oid estimator, Oid operator,
								  List *args, Predicate *predicate,
								  Selectivity *otherwise);
extern Node *selectivity_ball_radius(Oid function, Node *ball);
extern int	selectivity_radius(PlannerInfo *root, Node *radius, bool *known);
extern Selectivity selectivity_of_restriction(PlannerInfo *root,
											  const Predicate *predicate,
											  int varRelid);
extern Selectivity selectivity_of_join(PlannerInfo *root,
									   const Predicate *predicate,
									   JoinType jointype,
									   SpecialJoinInfo *sjinfo);

#endif							/* SIMHASH_SELECTIVITY_H */
