/*
 * Functions that the rewrite writes into plans: radii of bounds, and simhash_beside
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PLAN_FUNCTIONS_H
#define SIMHASH_PLAN_FUNCTIONS_H

extern int64 radius_of_float8(float8 bound);
extern int64 radius_of_numeric(Datum bound, bool below);
extern int64 radius_below_float8(float8 bound);
extern float8 fraction_below(float8 bound);

#endif							/* SIMHASH_PLAN_FUNCTIONS_H */
