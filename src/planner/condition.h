/*
 * Conditions on a distance: the one reader of clauses
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_CONDITION_H
#define SIMHASH_CONDITION_H

#include "nodes/pathnodes.h"

#include "planner/objects.h"

/* Radius in bits to assume if the planner does not know the radius.  8 is a common choice. */
#define UNKNOWN_RADIUS			8

/* Radius to assume if the distance is a fraction and the planner does not know the radius. */
#define UNKNOWN_FRACTION_RADIUS	0.5

/*
 * The condition above < distance(a, b) <= radius, or, if distance is NULL, that two
 * signatures share a band.  It holds for all rows that match the clause from which it was
 * read, except for a <@ b if a is empty.
 */
typedef struct Condition
{
	const Distance *distance;
	Oid			function;		/* the function that computes the condition; statistics are
								 * used only if it may see them */
	Oid			type;			/* type of signatures, or InvalidOid for a distance */
	Oid			ball;			/* type of balls, or InvalidOid if neither a nor b may be a
								 * column of balls */
	Node	   *a;
	Node	   *b;				/* NULL for an unknown constant */
	Node	   *radius;			/* NULL if unknown; the greatest distance if there is no upper
								 * bound */
	Node	   *above;			/* NULL if there is no lower bound */
	double		count;			/* number of conditions of which one must hold.  For an array
								 * of balls, of which only the greatest radius is stored, it
								 * may be above 1. */

	/* The operator or function that a comparison or an operator on arrays calls */
	Oid			callee_class;	/* OperatorRelationId or ProcedureRelationId */
	Oid			callee;			/* OID in that catalog */
} Condition;

extern bool condition_read_comparison(Node *clause, Condition *condition);
extern bool condition_read_array_operator(Node *clause, Condition *condition, bool *symmetric);
extern bool condition_read_call(Oid function, List *args, Condition *condition);
extern bool condition_read(Node *clause, Condition *condition);
extern bool condition_read_implied(Node *clause, Condition *weakest);
extern bool condition_read_operator(PlannerInfo *root, Oid operator, List *args,
									Condition *condition, Selectivity *otherwise);
extern bool condition_read_search(PlannerInfo *root, Node *clause, Oid opfamily,
								  Condition *condition);
extern void condition_check_signatures(Node *clause);
extern bool condition_is_beside(Node *clause);
extern bool condition_is_bounded(const Condition *condition);
extern bool condition_is_equality(const Condition *condition);
extern bool condition_merge(Condition *condition, const Condition *other);
extern Node *condition_make_call(const Condition *condition, Oid function, List *further);
extern Node *condition_make_bounds(const Condition *condition, const SimHashObjects *objects);
extern double condition_radius(PlannerInfo *root, const Distance *distance, Node *radius,
							   bool *known);

#endif							/* SIMHASH_CONDITION_H */
