/*-------------------------------------------------------------------------
 *
 * weigh.h
 *		Adding a weighted feature to 64 counters
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_WEIGH_H
#define SIMHASH_WEIGH_H

/* Adds weight to sum[i], for each bit i set in hash; sum has 64 elements. */
typedef void (*WeighFunction) (int64 *sum, uint64 hash, int64 weight);

/*
 * The ways to do it, the best first and the portable one last; tests run all
 * that the processor has.
 */
typedef struct WeighMethod
{
	const char *name;
	bool		(*available) (void);
	WeighFunction weigh;
} WeighMethod;

extern const WeighMethod weigh_methods[];
extern const int weigh_nmethods;

/* The best available. */
extern WeighFunction weigh;

#endif							/* SIMHASH_WEIGH_H */
