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

#include "lib/qunique.h"

#include "bits.h"
#include "compat.h"
#include "index/am/handler.h"
#include "index/kind.h"
#include "planner/selectivity.h"
#include "type/minhash.h"

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
	qsort(word, bands, sizeof(uint64), bits_compare);
	words->n = qunique(word, bands, sizeof(uint64), bits_compare);
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

static bool
make_exists(uint64 number)
{
	return minhash_make_is_valid(minhash_make_of_number(number));
}

static const char *
make_name(uint64 number)
{
	return minhash_make_name(minhash_make_of_number(number));
}

/*
 * How many words are sought: as many as an index of this make has bands, or all.
 */
static double
estimate_words(PlannerInfo *root, uint64 number, int strategy, const OpExpr *clause,
			   bool *unknown)
{
	MinhashMake make = minhash_make_of_number(number);
	Predicate	predicate;
	Selectivity otherwise;
	bool		known;
	double		radius;

	if (!minhash_make_is_valid(make))
		make = minhash_make(MINHASH_DEFAULT_BANDS, MINHASH_DEFAULT_ROWS,
							MINHASH_OF_HASHES, 0);
	if (clause == NULL)
		return make.bands;
	if (!selectivity_read_ball(root, &jaccard_kind, clause->opno, clause->args, &predicate,
							   &otherwise))
		return 0;
	if (predicate.by_band)
		return make.bands;
	radius = selectivity_share_radius(root, &jaccard_kind, predicate.radius, &known);
	*unknown |= !known;
	return !known || minhash_bands_suffice(make, radius) ? make.bands : HUGE_VAL;
}

static const KindOperator signature_operators[] = {
	{STRATEGY_WITHIN, simhash_minhash_in_ball},
	{STRATEGY_SHARES_BAND, simhash_minhash_shares_band},
};

static const IndexKind signature_kind = {
	.get_words = signature_words,
	.make_exists = make_exists,
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
