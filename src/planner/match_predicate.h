/*-------------------------------------------------------------------------
 *
 * match_predicate.h
 *		What estimates ask of two values: whether a predicate holds for them
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_NEARNESS_H
#define SIMHASH_NEARNESS_H

/* What one value is to another. */
typedef enum Relationship
{
	VALUES_EQUAL,
	VALUES_NEAR,				/* not equal, and the predicate holds */
	VALUES_APART
} Relationship;

typedef struct Nearness Nearness;

struct Nearness
{
	Relationship (*relate) (Datum a, Datum b, const Nearness *nearness);

	bool		of_equal;		/* whether the predicate holds for equal values */
	double		least;			/* the shares of pairs of values that are near: those of */
	double		most;			/* unrelated ones, and of any */

	/* Distances of fingerprints, from low to high, inclusive */
	int			low;
	int			high;
};

extern void nearness_of_fingerprints(Nearness *nearness, int low, int high);
extern void nearness_of_signatures(Nearness *nearness);

#endif							/* SIMHASH_NEARNESS_H */
