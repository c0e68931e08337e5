/*
 * Adding a weighted feature to 64 counters
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_WEIGH_H
#define SIMHASH_WEIGH_H

#include "cpu.h"

/* Adds weight to sum[i] for each bit i set in hash.  sum has SIMHASH_BITS elements. */
typedef void (*WeighFunction) (int64 *sum, uint64 hash, int64 weight);

/* All methods, for tests. */
extern const CpuMethod weigh_methods[];
extern const int weigh_nmethods;

/* The best method that the processor supports. */
extern WeighFunction weigh;

#endif							/* SIMHASH_WEIGH_H */
