/*
 * Convert numbers to radii
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_RADIUS_H
#define SIMHASH_RADIUS_H

extern int64 radius_of_float8(float8 bound);
extern int64 radius_of_numeric(Datum bound);
extern int64 radius_below_int8(int64 bound);
extern int64 radius_below_float8(float8 bound);
extern int64 radius_below_numeric(Datum bound);
extern float8 fraction_below(float8 bound);

#endif							/* SIMHASH_RADIUS_H */
