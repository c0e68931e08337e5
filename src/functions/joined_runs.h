/*-------------------------------------------------------------------------
 *
 * joined_runs.h
 *		Common runs that are only a few symbols apart, joined
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOINED_RUNS_H
#define SIMHASH_JOINED_RUNS_H

#include "functions/common_runs.h"

/* Value of JoinedRuns.next after the last run of a joined run */
#define NO_RUN		(-1)

/* A list of common runs, in order in both a and b. */
typedef struct JoinedRun
{
	int			first;			/* index of the first run in CommonRuns.runs */
	int32		a;				/* position of that run in a, from 0 */
	int32		length;			/* sum of the lengths of the runs */
} JoinedRun;

typedef struct JoinedRuns
{
	int			n;
	JoinedRun  *joined;			/* the greatest length first */
	int		   *next;			/* for each run the index of the next run of its
								 * list, or NO_RUN */
} JoinedRuns;

extern void join_common_runs(const Symbol *a, int na, const Symbol *b, int nb, int gap,
							 CommonRuns *found, JoinedRuns *result);

#endif							/* SIMHASH_JOINED_RUNS_H */
