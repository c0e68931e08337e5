/*-------------------------------------------------------------------------
 *
 * kind.h
 *		What differs between the kinds of values that an index may have
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_KIND_H
#define SIMHASH_KIND_H

#include "access/skey.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "utils/relcache.h"

#include "type/simhash.h"

/*
 * Trees know entries: a key and a TID.  A row has words of 64 bits, and each of them has
 * an entry in the tree of every table of the design, which makes a key of it (design.h).
 * The kind of values says which words a value has, and what they decide.
 *
 * A row without words, which is NULL or has an empty value, has an entry in a tree of
 * its own instead, so that every row is in the index; the one word that is said of it
 * tells the two apart.
 */
typedef struct Words
{
	bool		wordless;
	int			n;
	const uint64 *word;			/* points to `own`, or is allocated */
	uint64		own;
	uint64		make;			/* what all values of an index have in common (make.h);
								 * 0: nothing */
	int			least;			/* of a search: how many of them a row has to have */
} Words;

#define NULL_WORD		UINT64CONST(0)
#define EMPTY_WORD		UINT64CONST(1)

/* An operator that the index answers, and its strategy (strategy.h). */
typedef struct KindOperator
{
	int			strategy;
	PGFunction	function;
} KindOperator;

typedef struct IndexKind
{
	/* The words of a value: none, if it is empty; in ascending order. */
	void		(*get_words) (Datum value, Words *words);

	/*
	 * Whether there is a make of that number; and what one that there is is called, in
	 * messages.  Of a kind without these functions no value has a make.
	 */
	bool		(*make_exists) (uint64 make);
	const char *(*make_name) (uint64 make);

	/*
	 * The values' type, if it is one of PostgreSQL's, and what pg_type says of its
	 * length: they are not read as another type.
	 */
	Oid			type;
	int			length;

	/*
	 * Whether a row may have several words.  These are looked up as they are, in one
	 * tree, and a search looks for some: a row may be found once for each.  Otherwise a
	 * row has one word, and the design is the user's.
	 */
	bool		several;

	/*
	 * Words of which every row that matches has one, or so many: those of the argument,
	 * where there is no such function.  Returns false if rows without such words may match,
	 * too.
	 */
	bool		(*get_sought) (const ScanKeyData *key, Words *words);

	/*
	 * How many those are likely to be, for planning, in an index of a make; HUGE_VAL: all.
	 * *unknown is set where it may turn out to be all.  The clause is NULL where its
	 * argument is one of many.
	 */
	double		(*estimate_sought) (PlannerInfo *root, uint64 make, int strategy,
									const OpExpr *clause, bool *unknown);

	/* Or a search looks for words within a ball, which each are found once. */
	SimHashBall (*get_ball) (const ScanKeyData *key);

	/* Whether the operator is asked if a row with such a word matches. */
	bool		recheck;

	/* What its operator class has to have. */
	const KindOperator *operators;
	int			noperators;
} IndexKind;

/* The words of a column's value, which may be NULL: at least one. */
static inline void
kind_get_words(const IndexKind *kind, Datum value, bool isnull, Words *words)
{
	words->n = 0;
	words->make = 0;
	if (!isnull)
		kind->get_words(value, words);
	words->wordless = words->n == 0;
	if (words->wordless)
	{
		words->own = isnull ? NULL_WORD : EMPTY_WORD;
		words->word = &words->own;
		words->n = 1;
	}
}

static inline void
words_free(Words *words)
{
	if (words->word != &words->own)
		pfree(unconstify(uint64 *, words->word));
}

/*
 * The words that a search looks for, as get_sought has it.
 */
static inline bool
kind_get_sought(const IndexKind *kind, const ScanKeyData *key, Words *words)
{
	words->make = 0;
	words->least = 1;
	if (kind->get_sought)
		return kind->get_sought(key, words);
	kind->get_words(key->sk_argument, words);
	return true;
}

/* The support function of an operator class that returns the kind of its values. */
#define KIND_PROC		1
#define NPROCS			1

extern const IndexKind *kind_of_class(Oid family, Oid type);
extern const IndexKind *kind_of_index(Relation index);
extern const IndexKind *kind_of_trees(Relation index);

/* simhash/kinds.c */
extern Datum simhash_kind(PG_FUNCTION_ARGS);
extern Datum simhash_ball_kind(PG_FUNCTION_ARGS);

/* sketch/kind.c */
extern Datum simhash_sketch_kind(PG_FUNCTION_ARGS);

/* minhash/kind.c */
extern Datum simhash_minhash_kind(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_KIND_H */
