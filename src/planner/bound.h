/*
 * Convert the bound of a distance to a radius
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_BOUND_H
#define SIMHASH_BOUND_H

#include "planner/objects.h"

extern Node *make_constant(Oid type, Datum value);
extern Expr *bound_radius(const SimHashObjects *objects, Node *bound, bool below);
extern void bound_check_unit(bool of_bits, Node *bound);

#endif							/* SIMHASH_BOUND_H */
