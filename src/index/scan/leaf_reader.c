/*-------------------------------------------------------------------------
 *
 * leaf_reader.c
 *		Index scans: reading leaves, and matching their entries
 *
 * The matches of one page are copied at a time, so that no lock is held while the
 * executor looks at rows.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "index/scan/scan.h"
#include "index/simhash/match.h"
#include "index/tree/descend.h"
#include "index/tree/link.h"

/*
 * Begin to look for what is within a radius, by the cover chosen.
 */
void
scan_start_probing(SimHashScan *state, SimHash center, int radius)
{
	probing_start(&state->probing, &state->design, state->chosen, center, radius);
	prefetch_reset(&state->prefetch);
	state->stage = SCAN_PROBE;
}

/*
 * Whether a fingerprint that is within the ball searched for is within all balls, and
 * this is the first table in which the search finds it.
 */
static bool
match_is_new(const SimHashScan *state, SimHash fp)
{
	for (int i = 0; i < state->nballs; i++)
		if (!simhash_ball_contains(&state->balls[i], fp))
			return false;
	return probing_is_first(&state->probing, state->range.probed,
							fp ^ state->probing.query);
}

/*
 * Add the row of an entry to the matches.
 */
static void
add_match(SimHashScan *state, Relation index, Buffer buffer, int i, int distance)
{
	ItemPointer tid = leaf_tid(BufferGetPage(buffer), i);

	leaf_check_tid(index, buffer, tid);
	if (distance <= state->radius)
		state->matches[state->nmatches++] = *tid;
	else
	{
		FarMatch   *match = &state->far[state->nfar++];

		match->distance = distance;
		match->tid = *tid;
	}
}

/*
 * Whether an entry of a leaf has not been read before.  It may have been: the page that
 * the scan wanted to go on with may have been merged into one that it has read.
 */
static inline bool
is_to_be_read(const SimHashScan *state, Buffer buffer, int i)
{
	Entry		entry = page_entry(BufferGetPage(buffer), i);

	return entry_compare(&entry, &state->bound) >= 0;
}

/*
 * Add the matches among the entries from `from` to `to` of a leaf; unless `all_new`,
 * those that are still to be read.
 */
static void
collect_matches(SimHashScan *state, Relation index, Buffer buffer, int from, int to,
				bool all_new)
{
	const uint64 *keys = page_keys(BufferGetPage(buffer)) + from;
	const TableDesign *table = &state->design.table[state->range.table];
	SimHash		center = state->queue ? state->query : state->balls[0].center;
	int			radius = state->queue ? state->horizon : state->balls[0].radius;
	uint16		positions[MAX_LEAF_ENTRIES];
	int			n = match_keys(keys, to - from, design_key(table, center), radius,
							   positions);

	state->nentries += to - from;
	for (int i = 0; i < n; i++)
	{
		uint64		key = keys[positions[i]];
		SimHash		fp;
		int			distance = 0;

		if (key > state->range.high ||
			!(all_new || is_to_be_read(state, buffer, from + positions[i])))
			continue;
		fp = design_fingerprint(table, key);
		if (state->queue)
		{
			distance = simhash_distance(fp, state->query);
			if (distance <= state->completed_radius)
				continue;
		}
		if (match_is_new(state, fp))
			add_match(state, index, buffer, from + positions[i], distance);
	}
}

/*
 * Add all entries from `from` to `to` to the matches, whatever their keys; unless
 * `all_new`, those that are still to be read.
 */
static void
collect_all(SimHashScan *state, Relation index, Buffer buffer, int from, int to,
			bool all_new)
{
	const uint64 *keys = page_keys(BufferGetPage(buffer));

	for (int i = from; i < to; i++)
	{
		if (keys[i] > state->range.high)
			continue;
		if (all_new || is_to_be_read(state, buffer, i))
			add_match(state, index, buffer, i, 0);
	}
}

static inline void
collect(SimHashScan *state, Relation index, Buffer buffer, int from, int to,
		bool all_new)
{
	if (state->stage != SCAN_PROBE || (state->nballs == 0 && state->queue == NULL))
		collect_all(state, index, buffer, from, to, all_new);
	else
		collect_matches(state, index, buffer, from, to, all_new);
}

/*
 * Read the matches of a leaf, locked; and where the range goes on.
 *
 * A snapshot too old is found out here: entries are removed from leaves only, and where
 * one leaf is merged into another, the other is changed after the removals from both.
 */
static void
read_leaf(IndexScanDesc scan, Buffer buffer)
{
	SimHashScan *state = scan->opaque;
	Relation	index = scan->indexRelation;
	Page		page = BufferGetPage(buffer);
	TreePageOpaque opaque = TreePageGetOpaque(page);
	int			nsorted = opaque->nsorted;
	int			n = page_nentries(page);
	Entry		low = page_low(page);
	bool		all_new = entry_compare(&state->bound, &low) <= 0;
	Entry		beyond = entry_before(state->range.high + 1);
	int			from = 0;
	int			to = nsorted;

	test_for_old_snapshot(scan->xs_snapshot, index, page);
	state->npages++;
	state->nmatches = state->next_match = state->nfar = 0;
	if (!all_new)
		from = page_lower_bound(page, nsorted, &state->bound);
	if (state->range.high < ~UINT64CONST(0))
		to = page_lower_bound(page, nsorted, &beyond);
	collect(state, index, buffer, from, to, true);
	if (nsorted < n)
		collect(state, index, buffer, nsorted, n, all_new);

	state->in_range = !page_is_rightmost(page) && opaque->high_key <= state->range.high;
	if (state->in_range)
	{
		state->next = page_right_link(page);
		state->bound = state->next.low;
	}
}

/*
 * Hold back the matches beyond the radius.  The leaf is not locked any more, because the
 * matches may have to be written to disk.
 */
static void
hold_far_matches(SimHashScan *state)
{
	for (int i = 0; i < state->nfar; i++)
		distance_queue_add(state->queue, state->far[i].distance, &state->far[i].tid);
	if (state->nfar > 0)
		state->horizon = Min(state->horizon, distance_queue_farthest(state->queue));
}

static bool
next_probe(void *probing, KeyRange *range)
{
	return probing_next(probing, range);
}

/*
 * Go to the first leaf of the next range: returns it pinned and locked; or false
 * after the last one of this stage.
 */
static bool
next_range(IndexScanDesc scan, Buffer *buffer)
{
	SimHashScan *state = scan->opaque;
	Relation	index = scan->indexRelation;
	int			nulls = state->design.ntables;

	if (state->stage != SCAN_NULLS)
	{
		bool		words = state->stage == SCAN_WORDS;

		if (!prefetch_next(&state->prefetch, index,
						   words ? words_next_range : next_probe,
						   words ? (void *) &state->words : &state->probing,
						   &state->range, buffer))
			return false;
		state->bound = entry_before(state->range.low);
		state->nprobes++;
		return true;
	}
	if (state->range.table == nulls)
		return false;
	state->range = (KeyRange) {nulls, 0, NULL_WORD, NULL_WORD};
	state->bound = lowest_entry();
	*buffer = descend_to(index, nulls, 0, &state->bound, BUFFER_LOCK_SHARE);
	return true;
}

/*
 * Read on to the next page that has matches.  Returns false after the last one
 * of this stage.
 *
 * A snapshot that is not an MVCC one does not know a row that has taken the
 * place of a vacuumed one from the row it is looking for.  So the page then
 * stays pinned, which holds vacuum up, until all its rows have been looked at.
 */
bool
scan_next_page(IndexScanDesc scan, bool keep_pin)
{
	SimHashScan *state = scan->opaque;
	Relation	index = scan->indexRelation;

	for (;;)
	{
		Buffer		buffer;

		if (BufferIsValid(state->pinned))
			ReleaseBuffer(state->pinned);
		state->pinned = InvalidBuffer;

		CHECK_FOR_INTERRUPTS();
		if (state->in_range)
			buffer = descend_follow(index, &state->next, InvalidBuffer, &state->bound);
		else if (!next_range(scan, &buffer))
			return false;

		read_leaf(scan, buffer);
		if (state->nmatches > 0 && keep_pin)
		{
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			state->pinned = buffer;
		}
		else
			UnlockReleaseBuffer(buffer);
		hold_far_matches(state);
		if (state->words.seen)
			state->nmatches = tid_set_keep_new(state->words.seen, state->matches,
												state->nmatches);
		if (state->nmatches > 0)
			return true;
	}
}
