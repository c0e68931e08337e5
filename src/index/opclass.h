/*-------------------------------------------------------------------------
 *
 * opclass.h
 *		What an operator class of the index knows of its values
 *
 * The support function of an operator class returns its Opclass.  Fingerprints and balls
 * have one word each and are searched for within a ball.  Arrays and signatures have
 * several words and are searched for by these.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_OPCLASS_H
#define SIMHASH_OPCLASS_H

#include "access/skey.h"
#include "fmgr.h"
#include "utils/relcache.h"

#include "type/simhash_type.h"

/* of the planner, whose headers most users of this one do without */
struct PlannerInfo;
struct OpExpr;

/*
 * Trees know entries: a key and a TID.  A row has words of 64 bits, and each of them has
 * an entry in the tree of every table of the design, which makes a key of it (design.h).
 * The operator class says which words a value has, and what they decide.
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
	int32		params;			/* of the value (params.h), or NO_PARAMS */
	int			least;			/* of a search: how many of them a row has to have */
} Words;

/* Parameters of NULLs, and of values that have none. */
#define NO_PARAMS		0

#define NULL_WORD		UINT64CONST(0)
#define EMPTY_WORD		UINT64CONST(1)

/* The trees of an index of rows that may have several words: those, and placeholders. */
#define KEYS_TREE			0
#define PLACEHOLDER_TREE	1

/* An operator that the index answers, and its strategy (strategy.h). */
typedef struct OpclassOperator
{
	int			strategy;
	PGFunction	function;
} OpclassOperator;

/*
 * Methods for values of one word.  A search looks for words within a ball, and finds a row
 * once.  The design of the index is the user's.
 */
typedef struct HammingMethods
{
	/* Return the word of a value. */
	uint64		(*get_word) (Datum value);

	/* Return the ball that an operator's argument stands for. */
	SimHashBall (*get_ball) (const ScanKeyData *key);
} HammingMethods;

/*
 * Methods for values of several words.  The words are looked up as they are, in one tree.
 * A search looks for some, and may find a row once for each.
 */
typedef struct MultiKeyMethods
{
	/* Return the words of a value, in ascending order: none, if it is empty. */
	void		(*get_words) (Datum value, Words *words);

	/*
	 * Return words such that every row that matches has at least words->least of them.
	 * Returns false if rows without these words may match, too.
	 */
	bool		(*get_sought) (const ScanKeyData *key, Words *words);

	/*
	 * Estimate how many words get_sought returns, for planning, in an index with these
	 * parameters or with unknown ones; HUGE_VAL: all.  *unknown is set if it may turn out to
	 * be all.  The clause is NULL if its argument is one of many.
	 */
	double		(*estimate_sought) (struct PlannerInfo *root, int32 params, int strategy,
									const struct OpExpr *clause, bool *unknown);
} MultiKeyMethods;

/*
 * Methods for values with parameters (params.h), which are a type modifier.
 */
typedef struct ParamsMethods
{
	/* Return true if a value can have these parameters. */
	bool		(*are_valid) (int32 params);

	/* Return parameters as messages spell them. */
	const char *(*name) (int32 params);

	int32		example;
} ParamsMethods;

typedef struct Opclass
{
	/*
	 * The type of the values, if it is one of PostgreSQL's, and its length as pg_type has
	 * it.  Values of another type must not be read as this one.
	 */
	Oid			type;
	int			length;

	/* Whether the operator is called for each row that is found. */
	bool		recheck;

	/* The operators that it must have. */
	const OpclassOperator *operators;
	int			noperators;

	/* One of these is NULL. */
	const HammingMethods *hamming;
	const MultiKeyMethods *multi_key;

	/* NULL if values have no parameters. */
	const ParamsMethods *params;
} Opclass;

/* Return the words of a column's value, which may be NULL: at least one. */
static inline void
opclass_get_words(const Opclass *opclass, Datum value, bool isnull, Words *words)
{
	words->n = 0;
	words->params = NO_PARAMS;
	if (!isnull && opclass->hamming)
	{
		words->own = opclass->hamming->get_word(value);
		words->word = &words->own;
		words->n = 1;
	}
	else if (!isnull)
		opclass->multi_key->get_words(value, words);
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

/* Return the words that a search looks for, as get_sought does. */
static inline bool
opclass_get_sought(const Opclass *opclass, const ScanKeyData *key, Words *words)
{
	words->params = NO_PARAMS;
	words->least = 1;
	return opclass->multi_key->get_sought(key, words);
}

/* The support function of an operator class, which returns its Opclass. */
#define OPCLASS_PROC		1
#define NPROCS				1

/* simhash/simhash_opclasses.c */
extern Datum simhash_opclass(PG_FUNCTION_ARGS);
extern Datum simhash_ball_opclass(PG_FUNCTION_ARGS);

/* sketch/sketch_opclass.c */
extern Datum simhash_sketch_opclass(PG_FUNCTION_ARGS);

/* minhash/minhash_opclass.c */
extern Datum simhash_minhash_opclass(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_OPCLASS_H */
