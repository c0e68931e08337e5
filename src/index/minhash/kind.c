/*-------------------------------------------------------------------------
 *
 * kind.c
 *		The kind of values that are signatures, found by their bands
 *
 * A hash of each band and its number is a word.  Signatures that share a band share a
 * word.  Those that differ in fewer places than there are bands share a band, by the
 * pigeonhole principle: so do all within such a distance.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "compat.h"
#include "index/am/handler.h"
#include "index/kind.h"
#include "type/minhash.h"

static int
compare_words(const void *a, const void *b)
{
	uint64		word = *(const uint64 *) a;
	uint64		other = *(const uint64 *) b;

	return (word > other) - (word < other);
}

/*
 * The words of a signature's bands, in order, each once.
 */
static void
set_words(const Minhash *sig, Words *words)
{
	int			bands = sig->make.bands;
	uint64	   *word = palloc(bands * sizeof(uint64));

	for (int i = 0; i < bands; i++)
		word[i] = minhash_band_word(sig, i);
	qsort(word, bands, sizeof(uint64), compare_words);
	words->n = 0;
	for (int i = 0; i < bands; i++)
		if (i == 0 || word[i] != word[i - 1])
			word[words->n++] = word[i];
	words->word = word;
}

static void
signature_words(Datum value, Words *words)
{
	Minhash    *sig = minhash_detoast(value);

	words->make = minhash_make_number(sig->make);
	set_words(sig, words);
	if ((Pointer) sig != DatumGetPointer(value))
		pfree(sig);
}

/*
 * Those of the argument; of a ball, those of its center, if it is so small that they
 * suffice.
 */
static bool
sought_words(const ScanKeyData *key, Words *words)
{
	MinhashBall *ball;
	Minhash    *center;

	if (key->sk_strategy == STRATEGY_SHARES_BAND)
	{
		signature_words(key->sk_argument, words);
		return true;
	}
	ball = minhash_ball_detoast(key->sk_argument);
	center = minhash_ball_center(ball);
	words->make = minhash_make_number(center->make);
	if (!minhash_bands_suffice(center->make, ball->radius))
		return false;
	set_words(center, words);
	return true;
}

/*
 * The name of a make.
 */
static const char *
make_name(uint64 number)
{
	MinhashMake make = minhash_make_of_number(number);

	return minhash_make_is_valid(make) ? minhash_make_name(make) : NULL;
}

/*
 * How many bands a signature that is not known may have: what its type modifier says.
 */
static double
estimate_bands(Node *sig)
{
	int32		typmod = sig ? exprTypmod(sig) : -1;

	return typmod < 0 ? MINHASH_DEFAULT_BANDS : MINHASH_TYPMOD_BANDS(typmod);
}

/*
 * How many words are sought: as many as there are bands, or all.
 */
static double
estimate_words(PlannerInfo *root, int strategy, Node *argument, bool *unknown)
{
	MinhashBall *ball;
	Minhash    *sig;

	if (argument == NULL)
		return estimate_bands(NULL);
	argument = estimate_expression_value(root, argument);
	if (!IsA(argument, Const))
	{
		List	   *args = is_funcclause(argument) ? ((FuncExpr *) argument)->args : NIL;

		if (strategy == STRATEGY_SHARES_BAND)
			return estimate_bands(argument);
		/* minhash_ball(center, radius) */
		if (list_length(args) != 2 || !IsA(lsecond(args), Const))
			*unknown = true;
		return estimate_bands(args == NIL ? NULL : linitial(args));
	}
	if (((Const *) argument)->constisnull)
		return 0;
	if (strategy == STRATEGY_SHARES_BAND)
		return minhash_detoast(((Const *) argument)->constvalue)->make.bands;
	ball = minhash_ball_detoast(((Const *) argument)->constvalue);
	sig = minhash_ball_center(ball);
	return minhash_bands_suffice(sig->make, ball->radius) ? sig->make.bands : HUGE_VAL;
}

static const KindOperator signature_operators[] = {
	{STRATEGY_WITHIN, simhash_minhash_in_ball},
	{STRATEGY_SHARES_BAND, simhash_minhash_shares_band},
};

static const IndexKind signature_kind = {
	.get_words = signature_words,
	.make_name = make_name,
	.length = -1,
	.several = true,
	.get_sought = sought_words,
	.estimate_sought = estimate_words,
	.recheck = true,
	.operators = signature_operators,
	.noperators = lengthof(signature_operators),
};

PG_FUNCTION_INFO_V1(simhash_minhash_kind);
Datum
simhash_minhash_kind(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&signature_kind);
}
