/*
 * Rewrite comparisons of distances to calls that the planner understands
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_REWRITE_H
#define SIMHASH_REWRITE_H

extern void rewrite_init(void);

#endif							/* SIMHASH_REWRITE_H */
