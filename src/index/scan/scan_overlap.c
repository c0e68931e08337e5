/*-------------------------------------------------------------------------
 *
 * scan_overlap.c
 *		Index scans that give rows with the most of the words sought first
 *
 * The distance of a row is the share of the words sought that it lacks.  So rows are
 * counted by how many of these words they were found by; then come those that have none;
 * rows that are NULL are last.
 *
 * Some words stand in many rows, which are read only if need be.  First the rows of rare
 * words are found, and it is looked up which of the common words each of them has.  A row
 * that has no rare word has at most all the common ones: so whatever has as many is handed
 * out first, and then the rows that have all of these, as they are found by merging.  Only
 * then all words' rows are counted.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "index/scan/hit_counter.h"
#include "index/scan/posting_cursor.h"
#include "index/scan/scan.h"

/* A word is common if its entries go on after so many leaves. */
#define RARE_LEAVES		3

/*
 * Rows of a common word that are kept at a time, where those of rare words are looked up:
 * fewer than a leaf has, since mostly one of them is asked for before it is another leaf's
 * turn.
 */
#define ROWS_KEPT			32

typedef enum SharedStage
{
	SHARED_BEGIN,
	SHARED_RARE,				/* rows of rare words, as far as they come first */
	SHARED_COMMON,				/* rows of all the common words */
	SHARED_ALL,					/* the others that share a word */
	SHARED_REST,				/* rows with words that share none */
	SHARED_EMPTY,				/* rows without words */
	SHARED_DONE
} SharedStage;

struct SharedSearch
{
	MemoryContext context;
	SharedStage stage;
	Words		sought;
	int			least;			/* words that a row has to have */

	uint64	   *common;			/* words */
	int			ncommon;
	HitCounter *rare;			/* rows of the others */
	bool		rare_taken;		/* those with as many as they need have been given */
	MergedSearch *merged;		/* of the common words; NULL: rows that have these
								 * alone are not wanted, or are counted */
	HitCounter *all;
	TidSet	   *rest;			/* of those that share no word */
	bool		rest_read;		/* all but those deferred */
};

/* --- reading ------------------------------------------------------------------- */

/*
 * Count the rows of all words.
 */
static void
count_all(IndexScanDesc scan, SharedSearch *search)
{
	SimHashScan *state = scan->opaque;

	search->all = hit_counter_create(search->context);
	words_begin_reading(state, search->sought.word, search->sought.n);
	while (words_read_on(scan))
		hit_counter_add(search->all, state->matches, state->nmatches);
	hit_counter_rank(search->all);
}

/*
 * Count the rows of those words that are rare, and put the others aside.
 */
static void
count_rare(IndexScanDesc scan, SharedSearch *search)
{
	SimHashScan *state = scan->opaque;
	ItemPointerData *rows = palloc(RARE_LEAVES * MAX_LEAF_ENTRIES * sizeof(ItemPointerData));
	int			nrows = 0;
	int			nleaves = 0;
	uint64		word = 0;

	search->rare = hit_counter_create(search->context);
	search->common = MemoryContextAlloc(search->context, search->sought.n * sizeof(uint64));
	words_begin_reading(state, search->sought.word, search->sought.n);
	while (words_read_on(scan))
	{
		if (nleaves == 0 || state->range.low != word)
		{
			hit_counter_add(search->rare, rows, nrows);
			nrows = nleaves = 0;
			word = state->range.low;
		}
		memcpy(&rows[nrows], state->matches, state->nmatches * sizeof(ItemPointerData));
		nrows += state->nmatches;
		if (++nleaves == RARE_LEAVES && state->in_range)
		{
			search->common[search->ncommon++] = word;
			state->in_range = false;
			nrows = 0;
		}
	}
	hit_counter_add(search->rare, rows, nrows);
	pfree(rows);
}

/*
 * Words that a row has to have, to be given before the rows of common words are read: as
 * many as there are of these, and as many as all rows have to have.
 */
static int
needed_of_rare(const SharedSearch *search)
{
	return Max(search->ncommon, search->least);
}

/*
 * Count which of the common words the rows of rare ones have.  A row that cannot have as
 * many as it needs to be given first is left with too low a count: it is given with the
 * rows of all words, or not at all.
 */
static void
look_up_common(IndexScanDesc scan, SharedSearch *search)
{
	int64		n = hit_counter_in_memory(search->rare);
	TidCount **rows = hit_counter_by_tid(search->rare);
	int64		nleft = n;

	for (int i = 0; i < search->ncommon && nleft > 0; i++)
	{
		int			needed = needed_of_rare(search) - (search->ncommon - i);
		uint64		kept[ROWS_KEPT];
		PostingCursor	cursor;

		nleft = 0;
		posting_cursor_init(&cursor, search->common[i], kept, ROWS_KEPT);
		for (int64 j = 0; j < n; j++)
		{
			CHECK_FOR_INTERRUPTS();
			if ((int) rows[j]->count < needed)
				continue;
			nleft++;
			if (!posting_cursor_seek(scan->indexRelation, scan->xs_snapshot, &cursor, rows[j]->tid))
				break;
			rows[j]->count += posting_cursor_tid(&cursor) == rows[j]->tid;
		}
	}
}

/*
 * Find the rows that have a rare word, and which of the common ones they have.  Returns
 * false if they, or these, are too many: then nothing is known of them.
 */
static bool
find_rare(IndexScanDesc scan, SharedSearch *search)
{
	count_rare(scan, search);
	if (search->ncommon > 0 && hit_counter_in_memory(search->rare) < 0)
		return false;
	if (search->ncommon >= Max(search->least, 1))
	{
		search->merged = merged_create(search->context, search->common, search->ncommon,
									   search->ncommon);
		if (search->merged == NULL)
			return false;
	}
	if (search->ncommon > 0)
		look_up_common(scan, search);
	hit_counter_rank(search->rare);
	return true;
}

/*
 * Prepare to give rows that share no word: all others are excluded.
 */
static void
begin_rest(IndexScanDesc scan, SharedSearch *search)
{
	SimHashScan *state = scan->opaque;
	TidSet	   *rest = tid_set_create(search->context, true);

	search->rest = rest;
	words_begin_reading(state, search->sought.word, search->sought.n);
	while (words_read_on(scan))
		tid_set_exclude(rest, state->matches, state->nmatches);
	words_begin_reading(state, NULL, 1);
	state->words.range[0] = (KeyRange) {KEYS_TREE, 0, 0, PG_UINT64_MAX};
}

/* --- giving --------------------------------------------------------------------- */

/*
 * The share of the words sought that is missing, by one division.
 */
static void
set_distance(SimHashScan *state, uint32 count)
{
	int			n = state->shared->sought.n;

	state->shared_distance = (float8) (n - count) / n;
}

/*
 * Give rows of rare words, as long as they have as many words as they need.
 */
static bool
take_rare(SimHashScan *state, SharedSearch *search)
{
	uint32		count;

	state->nmatches = hit_counter_take(search->rare, state->matches, MAX_LEAF_ENTRIES, &count);
	if (state->nmatches == 0 || count < needed_of_rare(search))
		return false;
	set_distance(state, count);
	return true;
}

/*
 * Give rows that have all the common words, as they are found: but for those of a rare word,
 * which have been given.
 */
static bool
take_common(IndexScanDesc scan, SharedSearch *search)
{
	SimHashScan *state = scan->opaque;
	int			n;

	do
	{
		if (!merged_take(scan, search->merged))
			return false;
		n = state->nmatches;
		state->nmatches = 0;
		for (int i = 0; i < n; i++)
			if (hit_counter_look_up(search->rare, tid_number(&state->matches[i])) == 0)
				state->matches[state->nmatches++] = state->matches[i];
	} while (state->nmatches == 0);
	set_distance(state, search->ncommon);
	return true;
}

/*
 * Give the others that share a word.
 */
static bool
take_all(SimHashScan *state, SharedSearch *search)
{
	uint32		count = 0;

	do
	{
		state->nmatches = hit_counter_take(search->all, state->matches, MAX_LEAF_ENTRIES, &count);
		if (state->nmatches == 0 || count < search->least)
			return false;
	} while (search->rare_taken && count >= search->ncommon);
	set_distance(state, count);
	return true;
}

/*
 * Give rows that share no word, as they are read.
 */
static bool
take_rest(IndexScanDesc scan, SharedSearch *search)
{
	SimHashScan *state = scan->opaque;
	bool		any = false;

	while (!search->rest_read && !any)
	{
		search->rest_read = !words_read_on(scan);
		if (!search->rest_read)
			state->nmatches = tid_set_keep_new(search->rest, state->matches,
												state->nmatches);
		any = !search->rest_read && state->nmatches > 0;
	}
	if (!any)
		state->nmatches = tid_set_take_deferred(search->rest, state->matches,
												 MAX_LEAF_ENTRIES);
	set_distance(state, 0);
	return state->nmatches > 0;
}

static void
free_counts(SharedSearch *search)
{
	if (search->rare)
		hit_counter_free(search->rare);
	if (search->all)
		hit_counter_free(search->all);
	search->rare = search->all = NULL;
}

/*
 * Prepare the next stage.
 */
static void
next_stage(IndexScanDesc scan, SharedSearch *search)
{
	SimHashScan *state = scan->opaque;

	search->stage++;
	switch (search->stage)
	{
		case SHARED_RARE:
			search->rare_taken = search->sought.n > 0 && find_rare(scan, search);
			if (!search->rare_taken)
				free_counts(search);	/* their memory is that of the next */
			break;
		case SHARED_ALL:
			/* those that have as many words as there are common ones have been given */
			if (search->rare_taken ? search->ncommon > Max(search->least, 1) :
				search->ncommon > 0)
			{
				free_counts(search);
				count_all(scan, search);
			}
			break;
		case SHARED_REST:
			free_counts(search);
			if (search->least > 0)
				search->stage = SHARED_DONE;
			else
				begin_rest(scan, search);
			break;
		case SHARED_EMPTY:
			words_begin_reading(state, NULL, 1);
			state->words.range[0] = (KeyRange) {PLACEHOLDER_TREE, 0, EMPTY_WORD, EMPTY_WORD};
			break;
		default:
			break;
	}
}

/*
 * The next rows, all at one distance.  Returns false after the last ones that are not
 * NULL.
 */
bool
shared_take(IndexScanDesc scan)
{
	SimHashScan *state = scan->opaque;
	SharedSearch *search = state->shared;

	while (search->stage != SHARED_DONE)
	{
		bool		taken = false;

		if (search->stage == SHARED_RARE && search->rare_taken)
			taken = take_rare(state, search);
		else if (search->stage == SHARED_COMMON && search->merged)
			taken = take_common(scan, search);
		else if (search->stage == SHARED_ALL && search->all)
			taken = take_all(state, search);
		else if (search->stage == SHARED_REST)
			taken = take_rest(scan, search);
		else if (search->stage == SHARED_EMPTY)
		{
			taken = words_read_on(scan);
			set_distance(state, 0);
		}
		state->next_match = 0;
		if (taken)
			return true;
		next_stage(scan, search);
	}
	state->nmatches = 0;
	return false;
}

/* --- what is asked --------------------------------------------------------------- */

/*
 * Read the order.  The distance from NULL or an empty array is NULL for every row, which
 * is no order.
 */
static void
read_order(IndexScanDesc scan, SharedSearch *search)
{
	SimHashScan *state = scan->opaque;
	ScanKey		key = scan->orderByData;

	if (!(key->sk_flags & SK_ISNULL))
		state->opclass->multi_key->get_words(key->sk_argument, &search->sought);
	scan->xs_orderbynulls[0] = search->sought.n == 0;
}

/*
 * Read the scan keys.  Returns false if nothing matches.
 */
static bool
read_keys(IndexScanDesc scan, SharedSearch *search)
{
	SimHashScan *state = scan->opaque;
	const Words *sought = &search->sought;

	state->want_rows = state->want_nulls = true;
	state->recheck = false;
	for (int i = 0; i < scan->numberOfKeys && !scan_wants_nothing(state); i++)
	{
		ScanKey		key = &scan->keyData[i];
		Words		words;

		if (!scan_key_compares(state, key))
			continue;
		if (!opclass_get_sought(state->opclass, key, &words))
			continue;
		if (words.n == 0)
			return false;
		if (words.n == sought->n &&
			memcmp(words.word, sought->word, words.n * sizeof(uint64)) == 0)
			search->least = Max(search->least, words.least);
		else
			state->recheck = true;
	}
	return !scan_wants_nothing(state);
}

/*
 * What it allocates is in the context of the words searched for, which is the current one.
 */
static SharedSearch *
begin_shared(SimHashScan *state)
{
	SharedSearch *search = palloc0(sizeof(SharedSearch));

	state->shared = search;
	state->stage = SCAN_SHARED;
	search->context = state->words.context;
	return search;
}

/*
 * Begin a search for rows with the most of the words sought first.
 */
void
shared_begin(IndexScanDesc scan)
{
	SimHashScan *state = scan->opaque;
	SharedSearch *search = begin_shared(state);

	read_order(scan, search);
	if (!read_keys(scan, search))
		state->stage = SCAN_DONE;
	if (!state->want_rows)
		search->stage = SHARED_DONE;
}

/*
 * Begin a search for rows with at least so many of the words, whatever their order.
 */
void
shared_begin_for(IndexScanDesc scan, const Words *words)
{
	SharedSearch *search = begin_shared(scan->opaque);

	search->sought = *words;
	search->least = words->least;
}

/*
 * Free what is not in the context of the words searched for.
 */
void
shared_end(SimHashScan *state)
{
	if (state->shared == NULL)
		return;
	free_counts(state->shared);
	if (state->shared->rest)
		tid_set_free(state->shared->rest);
	state->shared = NULL;
}
