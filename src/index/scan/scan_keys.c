/*-------------------------------------------------------------------------
 *
 * scan_keys.c
 *		Index scans where a row may have several words: what is asked for, and the words
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "index/params.h"
#include "index/scan/scan.h"
#include "index/tree/meta.h"

static void
add_range(WordSearch *search, int tree, uint64 low, uint64 high)
{
	search->range[search->nranges++] = (KeyRange) {tree, 0, low, high};
}

/*
 * Search for all rows that are not NULL, or that are, or both.
 */
static void
search_all(WordSearch *search, bool want_rows, bool want_nulls)
{
	if (want_rows)
	{
		add_range(search, KEYS_TREE, 0, PG_UINT64_MAX);
		add_range(search, PLACEHOLDER_TREE, EMPTY_WORD, EMPTY_WORD);
	}
	if (want_nulls)
		add_range(search, PLACEHOLDER_TREE, NULL_WORD, NULL_WORD);
}

/*
 * Whether a set of words is a better one to search for: that of which a row has to have
 * more, or else the smaller one.
 */
static bool
is_better(const Words *set, const Words *other)
{
	if (set->least != other->least)
		return set->least > other->least;
	return set->n < other->n;
}

/*
 * Search for rows with at least so many of the words.  Words that cannot be merged within
 * memory are counted.  Without an MVCC snapshot a row must not be gone from the leaf where
 * it was found until it has been looked at, which is only seen to where leaves are read one
 * after the other: so rows with any of as many words as those that match cannot all lack
 * are candidates, and the operator is asked.
 */
static void
search_words(IndexScanDesc scan, SimHashScan *state, const Words *words)
{
	WordSearch *search = &state->words;

	if (words->least > 1 && IsMVCCSnapshot(scan->xs_snapshot))
	{
		search->merged = merged_create(search->context, words->word, words->n, words->least);
		if (search->merged)
			state->stage = SCAN_MERGED;
		else
			shared_begin_for(scan, words);
		return;
	}
	search->words = words->word;
	search->nranges = words->n - words->least + 1;
	state->recheck |= words->least > 1;
}

/*
 * Read the scan keys.  Of several sets of words one is searched for, and the operators are
 * asked.  Nothing matches where no range is left to read.
 */
static void
read_words(IndexScanDesc scan, SimHashScan *state)
{
	Words		words = {0};
	int			nsets = 0;

	state->stage = SCAN_WORDS;
	state->want_rows = state->want_nulls = true;
	for (int i = 0; i < scan->numberOfKeys && !scan_wants_nothing(state); i++)
	{
		ScanKey		key = &scan->keyData[i];
		Words		set;
		bool		all;

		if (!scan_key_compares(state, key))
			continue;
		all = !opclass_get_sought(state->opclass, key, &set);
		params_check(scan->indexRelation, state->opclass,
					 meta_get(scan->indexRelation)->params, set.params);
		if (all)
			continue;
		Assert(set.word != &set.own);
		if (set.n == 0)
			return;
		if (nsets++ == 0 || is_better(&set, &words))
			words = set;
	}
	state->recheck = state->opclass->recheck || nsets > 1;
	if (nsets == 0)
		search_all(&state->words, state->want_rows, state->want_nulls);
	else if (state->want_rows)
		search_words(scan, state, &words);
}

/*
 * Begin the search that the scan keys ask for, in the order that is asked for.
 */
void
words_begin(IndexScanDesc scan)
{
	SimHashScan *state = scan->opaque;
	WordSearch *search = &state->words;
	MemoryContext old_context;

	words_end(search);
	search->context = AllocSetContextCreate(GetMemoryChunkContext(state),
											"simhash words searched for",
											ALLOCSET_SMALL_SIZES);
	old_context = MemoryContextSwitchTo(search->context);
	if (scan->numberOfOrderBys > 0)
		shared_begin(scan);
	else
		read_words(scan, state);
	MemoryContextSwitchTo(old_context);
	prefetch_reset(&state->prefetch);
}

/*
 * See to it that no row is reported twice: which a bitmap does by itself.  Where rows are
 * merged there are no ranges yet, and each is found once.
 */
void
words_report_once(WordSearch *search, bool keep_pin)
{
	if (search->nranges > 1)
		search->seen = tid_set_create(search->context, !keep_pin);
}

/*
 * Begin to read the rows of some words; or, if there are none, n ranges.
 */
void
words_begin_reading(SimHashScan *state, const uint64 *words, int n)
{
	state->words.words = words;
	state->words.nranges = n;
	state->words.next = 0;
	state->in_range = false;
	state->range.table = -1;
	prefetch_reset(&state->prefetch);
}

/*
 * Read on, in whatever stage the scan is; the matches of a leaf are in state->matches, and
 * the word that they have in state->range.  Returns false after the last one.
 */
bool
words_read_on(IndexScanDesc scan)
{
	SimHashScan *state = scan->opaque;
	ScanStage	stage = state->stage;
	bool		any;

	/* which is what tells the reader where its ranges come from */
	state->stage = SCAN_WORDS;
	any = scan_next_page(scan, false);
	state->stage = stage;
	return any;
}

/*
 * The next range to read.  Returns false after the last one.
 */
bool
words_next_range(void *search, KeyRange *range)
{
	WordSearch *words = search;

	if (words->next == words->nranges)
		return false;
	if (words->words)
	{
		uint64		word = words->words[words->next];

		*range = (KeyRange) {KEYS_TREE, 0, word, word};
	}
	else
		*range = words->range[words->next];
	words->next++;
	return true;
}

/*
 * Free what a search has needed.
 */
void
words_end(WordSearch *search)
{
	if (search->seen)
		tid_set_free(search->seen);
	if (search->context)
		MemoryContextDelete(search->context);
	memset(search, 0, sizeof(WordSearch));
}
