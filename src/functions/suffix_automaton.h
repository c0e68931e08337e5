/*
 * All passages of a sequence of symbols, in linear space
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SUFFIX_AUTOMATON_H
#define SIMHASH_SUFFIX_AUTOMATON_H

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

#endif							/* SIMHASH_SUFFIX_AUTOMATON_H */
