/*
 * Joins of a table with itself
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SELF_JOIN_H
#define SIMHASH_SELF_JOIN_H

#include "planner/condition.h"

/* How the two sides of a join are related. */
typedef struct SelfJoin
{
	bool		same_values;	/* true if both sides are the same column of one table */
	double		excluded;		/* fraction of pairs that are a row and itself, if another
								 * clause excludes them; otherwise 0 */
} SelfJoin;

extern bool is_same_of_both(Node *of_a, Node *of_b, int a, int b);
extern bool excludes_itself(Expr *clause, int a, int b);
extern SelfJoin self_join_read(PlannerInfo *root, const Condition *condition);

/*
 * Return the greatest probability to assume that a row has an equal one on the other side.
 * Each row of a table has one in that table.  Of two tables the samples do not tell, so assume
 * a half, as eqjoinsel_semi() does if it has no statistics.  Then neither the rows with a match
 * nor those without one are estimated as none.
 */
static inline double
self_join_max_equal(const SelfJoin *self)
{
	return self->same_values && self->excluded == 0 ? 1 : 0.5;
}

#endif							/* SIMHASH_SELF_JOIN_H */
