/*
 * The runs of symbols that two sequences have in common
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_RUNS_H
#define SIMHASH_RUNS_H

/* --- all passages of a sequence, of suffix_automaton.c ----------------------------- */

/* A symbol of a sequence.  NO_SYMBOL is in no automaton's sequence. */
typedef uint32 Symbol;

#define NO_SYMBOL	0

typedef struct AutomatonState AutomatonState;
typedef struct AutomatonMove AutomatonMove;

typedef struct SuffixAutomaton
{
	AutomatonState *states;
	AutomatonMove *moves;
	int32	   *buckets;		/* hash table: first move of each bucket, by state and
								 * symbol */
	int			bucket_bits;
	int32		nstates;
	int32		nmoves;
	int32		last;			/* number of the state of the whole sequence */
} SuffixAutomaton;

/*
 * The longest passage of the automaton's sequence that ends at the current position of
 * another sequence.
 */
typedef struct AutomatonMatch
{
	int32		state;
	int32		length;
} AutomatonMatch;

#define AUTOMATON_NO_MATCH	((AutomatonMatch) {0, 0})

/* Maximum number of symbols of an automaton's sequence. */
#define AUTOMATON_MAX		(1 << 22)

extern void automaton_init(SuffixAutomaton *automaton, int nsymbols);
extern void automaton_extend(SuffixAutomaton *automaton, Symbol symbol);
extern void automaton_match(const SuffixAutomaton *automaton, Symbol symbol,
							AutomatonMatch *match);
extern int32 automaton_first_end(const SuffixAutomaton *automaton, AutomatonMatch match);
extern void automaton_free(SuffixAutomaton *automaton);

/* --- runs, of common_runs.c ------------------------------------------------------- */

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

#endif							/* SIMHASH_RUNS_H */
