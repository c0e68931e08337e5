/*-------------------------------------------------------------------------
 *
 * common_runs.h
 *		The runs of symbols that two sequences have in common
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_COMMON_RUNS_H
#define SIMHASH_COMMON_RUNS_H

#include "functions/suffix_automaton.h"

typedef struct CommonRun
{
	int32		a;				/* position of the run's first symbol in a, from 0 */
	int32		b;				/* position of the run's first symbol in b, from 0 */
	int32		length;
} CommonRun;

typedef struct CommonRuns
{
	int			n;
	CommonRun  *runs;			/* runs, the longest first */
	int		   *by_position;	/* indexes in `runs`, in the order of positions in a */
} CommonRuns;

extern void find_common_runs(const Symbol *a, int na, const Symbol *b, int nb,
							 int minimum, CommonRuns *result);

#endif							/* SIMHASH_COMMON_RUNS_H */
