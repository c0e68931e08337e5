/*
 * The runs of symbols that two sequences have in common
 *
 * Copyright (c) 2026, the simhash authors
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

/* --- joined runs, of joined_runs.c ------------------------------------------------- */

/* Value of JoinedRuns.next after the last run of a joined run */
#define NO_RUN		(-1)

/* A list of common runs, in order in both a and b. */
typedef struct JoinedRun
{
	int			first;			/* index of the first run in CommonRuns.runs */
	int32		a;				/* position of the first run in a, from 0 */
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

#endif							/* SIMHASH_COMMON_RUNS_H */
