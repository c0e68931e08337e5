/*-------------------------------------------------------------------------
 *
 * scan_words.c
 *		Index scans where a row may have several words: rows with any of those asked for
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "index/make.h"
#include "index/scan/scan.h"

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
		add_range(search, WORDS_TREE, 0, PG_UINT64_MAX);
		add_range(search, WORDLESS_TREE, EMPTY_WORD, EMPTY_WORD);
	}
	if (want_nulls)
		add_range(search, WORDLESS_TREE, NULL_WORD, NULL_WORD);
}

/*
 * Read the scan keys.  Of several sets of words the smallest is searched for, and the
 * operators are asked.  Nothing matches where no range is left to read.
 */
static void
read_words(IndexScanDesc scan, SimHashScan *state)
{
	Words		words = {0};
	int			nsets = 0;

	state->want_rows = state->want_nulls = true;
	for (int i = 0; i < scan->numberOfKeys && !scan_wants_nothing(state); i++)
	{
		ScanKey		key = &scan->keyData[i];
		Words		set;
		bool		all;

		if (!scan_key_compares(state, key))
			continue;
		all = !kind_get_sought(state->kind, key, &set);
		if (set.make != 0)
			make_check_search(scan->indexRelation, state->kind, set.make);
		if (all)
			continue;
		Assert(set.word != &set.own);
		if (set.n == 0)
			return;
		if (nsets++ == 0 || set.n < words.n)
			words = set;
	}
	if (nsets == 0)
		search_all(&state->words, state->want_rows, state->want_nulls);
	else if (state->want_rows)
	{
		state->words.words = words.word;
		state->words.nranges = words.n;
	}
	state->recheck = state->kind->recheck || nsets > 1;
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
	{
		read_words(scan, state);
		state->stage = SCAN_WORDS;
	}
	MemoryContextSwitchTo(old_context);
	prefetch_reset(&state->prefetch);
}

/*
 * See to it that no row is reported twice: which a bitmap does by itself.
 */
void
words_report_once(WordSearch *search, bool keep_pin)
{
	if (search->nranges > 1)
		search->reported = reported_create(search->context, !keep_pin);
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

		*range = (KeyRange) {WORDS_TREE, 0, word, word};
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
	if (search->reported)
		reported_free(search->reported);
	if (search->context)
		MemoryContextDelete(search->context);
	memset(search, 0, sizeof(WordSearch));
}
