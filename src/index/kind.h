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
	const uint64 *word;			/* may point to `own` */
	uint64		own;
} Words;

#define NULL_WORD		UINT64CONST(0)
#define EMPTY_WORD		UINT64CONST(1)

/* An operator that the index answers, and its strategy (handler.h). */
typedef struct KindOperator
{
	int			strategy;
	PGFunction	function;
} KindOperator;

typedef struct IndexKind
{
	/* The words of a value: none, if it is empty. */
	void		(*get_words) (Datum value, Words *words);

	/* What pg_type says of the values' length: they are not read as another type. */
	int			length;

	/*
	 * What a search looks for: words within a ball, which each are found once.  If
	 * `recheck`, whether a row with such a word matches is asked of the operator.
	 */
	SimHashBall (*get_ball) (const ScanKeyData *key);
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

/* The support function of an operator class that returns the kind of its values. */
#define KIND_PROC		1
#define NPROCS			1

extern const IndexKind *kind_of_function(FmgrInfo *function);
extern const IndexKind *kind_of_index(Relation index);

/* simhash/kinds.c */
extern Datum simhash_kind(PG_FUNCTION_ARGS);
extern Datum simhash_ball_kind(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_KIND_H */
