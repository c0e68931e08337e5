/*
 * All passages of a sequence of symbols, in linear space
 *
 * This is the smallest automaton that recognizes every passage of the sequence (Blumer and
 * others, "The smallest automaton recognizing the subwords of a text", 1985).  Each state
 * represents all passages that end at the same positions.  For n symbols there are at most
 * 2n states and 3n moves.  Moves are stored in a hash table, since there may be as many
 * symbols as a text has words.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "functions/runs.h"
#include "text/salt.h"

#define NONE		(-1)

struct AutomatonState
{
	int32		length;			/* length of the longest passage of the state, in symbols */
	int32		link;			/* suffix link: state of the longest suffix of its passages
								 * that also ends at other positions */
	int32		first_end;		/* end of the first occurrence, in symbols from the start
								 * of the sequence */
	int32		moves;			/* index of the last move added to this state */
};

struct AutomatonMove
{
	Symbol		symbol;
	int32		from;
	int32		to;
	int32		next_of_state;
	int32		next_in_bucket;
};

/*
 * Initialize an automaton for a sequence of at most nsymbols symbols.  nsymbols must not
 * exceed AUTOMATON_MAX.
 */
void
automaton_init(SuffixAutomaton *automaton, int nsymbols)
{
	size_t		nstates = 2 * (size_t) nsymbols + 2;
	size_t		nmoves = 3 * (size_t) nsymbols + 3;
	MemoryContext context = CurrentMemoryContext;

	salt_init();
	automaton->states = MemoryContextAllocHuge(context, nstates * sizeof(AutomatonState));
	automaton->moves = MemoryContextAllocHuge(context, nmoves * sizeof(AutomatonMove));
	automaton->bucket_bits = 4;
	while ((size_t) 1 << automaton->bucket_bits < 2 * (size_t) nsymbols)
		automaton->bucket_bits++;
	automaton->buckets = MemoryContextAllocHuge(context, sizeof(int32) << automaton->bucket_bits);
	memset(automaton->buckets, NONE, sizeof(int32) << automaton->bucket_bits);
	automaton->states[0] = (AutomatonState) {0, NONE, 0, NONE};
	automaton->nstates = 1;
	automaton->nmoves = 0;
	automaton->last = 0;
}

/*
 * Free the memory of an automaton.
 */
void
automaton_free(SuffixAutomaton *automaton)
{
	pfree(automaton->states);
	pfree(automaton->moves);
	pfree(automaton->buckets);
}

/*
 * Return the bucket of a move from a state by a symbol.
 */
static inline int32 *
move_bucket(const SuffixAutomaton *automaton, int32 from, Symbol symbol)
{
	uint64		key = (uint64) from << 32 | symbol;

	return &automaton->buckets[salted_hash64(key) >> (64 - automaton->bucket_bits)];
}

/*
 * Return the move from a state by a symbol, or NULL if there is none.
 */
static AutomatonMove *
find_move(const SuffixAutomaton *automaton, int32 from, Symbol symbol)
{
	int32		i = *move_bucket(automaton, from, symbol);

	while (i != NONE &&
		   !(automaton->moves[i].from == from && automaton->moves[i].symbol == symbol))
		i = automaton->moves[i].next_in_bucket;
	return i == NONE ? NULL : &automaton->moves[i];
}

/*
 * Add a move.
 */
static void
add_move(SuffixAutomaton *automaton, int32 from, Symbol symbol, int32 to)
{
	int32		number = automaton->nmoves++;
	int32	   *bucket = move_bucket(automaton, from, symbol);

	automaton->moves[number] = (AutomatonMove) {
		symbol, from, to, automaton->states[from].moves, *bucket
	};
	automaton->states[from].moves = number;
	*bucket = number;
}

/*
 * Add a state without moves, and return its number.
 */
static int32
add_state(SuffixAutomaton *automaton, int32 length, int32 first_end)
{
	automaton->states[automaton->nstates] = (AutomatonState) {
		length, NONE, first_end, NONE
	};
	return automaton->nstates++;
}

/*
 * Split the state that a move leads to.  Some of its passages now also end at the appended
 * symbol: those that are at most one symbol longer than the longest passage of the state
 * that the move starts from.  Returns the number of the new state, which has these
 * passages.
 */
static int32
split_state(SuffixAutomaton *automaton, AutomatonMove *move)
{
	AutomatonState *states = automaton->states;
	Symbol		symbol = move->symbol;
	int32		from = move->from;
	int32		old = move->to;
	int32		shorter = add_state(automaton, states[from].length + 1, states[old].first_end);

	for (int32 i = states[old].moves; i != NONE; i = automaton->moves[i].next_of_state)
		add_move(automaton, shorter, automaton->moves[i].symbol, automaton->moves[i].to);
	states[shorter].link = states[old].link;
	states[old].link = shorter;
	while (move != NULL && move->to == old)
	{
		move->to = shorter;
		from = states[from].link;
		move = from == NONE ? NULL : find_move(automaton, from, symbol);
	}
	return shorter;
}

/*
 * Append a symbol to the sequence.
 */
void
automaton_extend(SuffixAutomaton *automaton, Symbol symbol)
{
	AutomatonState *states = automaton->states;
	int32		length = states[automaton->last].length + 1;
	int32		whole = add_state(automaton, length, length);
	int32		from = automaton->last;
	AutomatonMove *move = NULL;

	while (from != NONE && (move = find_move(automaton, from, symbol)) == NULL)
	{
		add_move(automaton, from, symbol, whole);
		from = states[from].link;
	}
	if (move == NULL)
		states[whole].link = 0;
	else if (states[move->to].length == states[from].length + 1)
		states[whole].link = move->to;
	else
		states[whole].link = split_state(automaton, move);
	automaton->last = whole;
}

/*
 * Advance a match by the next symbol of another sequence.  Pass NO_SYMBOL for a
 * symbol that does not occur in the automaton's sequence.
 */
void
automaton_match(const SuffixAutomaton *automaton, Symbol symbol, AutomatonMatch *match)
{
	AutomatonMove *move = NULL;

	while (symbol != NO_SYMBOL &&
		   (move = find_move(automaton, match->state, symbol)) == NULL &&
		   match->state != 0)
	{
		match->state = automaton->states[match->state].link;
		match->length = automaton->states[match->state].length;
	}
	if (move == NULL)
	{
		*match = AUTOMATON_NO_MATCH;
		return;
	}
	match->state = move->to;
	match->length++;
}

/*
 * Return the end of the first occurrence of the matching passage, in symbols from the
 * start of the sequence.
 */
int32
automaton_first_end(const SuffixAutomaton *automaton, AutomatonMatch match)
{
	return automaton->states[match.state].first_end;
}
