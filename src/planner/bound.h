/*-------------------------------------------------------------------------
 *
 * bound.h
 *		Convert the bound of a distance to a radius
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BOUND_H
#define SIMHASH_BOUND_H

#include "planner/comparison.h"

extern Expr *bound_radius(const Comparison *comparison, bool *exact);
extern void check_signature_bound(Node *clause);

#endif							/* SIMHASH_BOUND_H */
