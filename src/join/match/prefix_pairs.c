/*
 * Pairs of entries of two inputs whose prefixes share an element
 *
 * The entries of both inputs are sorted by a hash value of the key, and merged.  A list is
 * the entries of one input with the same hash value.  Their keys are nearly always the same.
 * Two tests on the entries alone reject most pairs of two lists:
 *
 * - Rows that share the previous key, too, have met there already.
 * - Otherwise the rows share at most this key and all that follow it.  A pair is rejected if
 *	 these are too few elements in common for the radius.  (The positional filter of
 *	 Xiao, Wang, Lin, Yu, "Efficient similarity joins for near duplicate detection", 2008.)
 *
 * In long lists, entries are sorted by the previous key, too.  So those that have met already
 * are skipped together, and equal rows meet once, not once for each key.
 *
 * A prefix begins with the index prefix (Xiao, Wang, Lin, Yu), which is long enough for pairs
 * with rows of at least as many elements.  Of two rows within the radius, the first element
 * that they share is in the index prefix of the one with fewer elements.  So two entries that
 * are both beyond their index prefixes are not paired.  This skips together the rows of a
 * template, which share many frequent elements.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits.h"
#include "digest/splitmix.h"
#include "join/match/prefix_pairs.h"

/* Lists are long if they have more pairs of entries. */
#define LONG_LISTS			64

/*
 * Compare two entries by key, then by previous key.  Of one key, the entries in their index
 * prefixes come before the others, and of each of these two, those without a previous key.
 */
static inline int
compare_prefix_entries(const PrefixEntry *a, const PrefixEntry *b)
{
	if (a->entry.key != b->entry.key)
		return a->entry.key < b->entry.key ? -1 : 1;
	if (a->beyond_index_prefix != b->beyond_index_prefix)
		return a->beyond_index_prefix - b->beyond_index_prefix;
	if ((a->position > 0) != (b->position > 0))
		return a->position > 0 ? 1 : -1;
	return (a->previous > b->previous) - (a->previous < b->previous);
}

static inline const PrefixEntry *
prefix_entry_at(const EntryRefs *side, uint64 ref)
{
	return (const PrefixEntry *) join_entries_at(side->entries, (uint32) ref);
}

#define ST_SORT				sort_list
#define ST_ELEMENT_TYPE		uint64
#define ST_COMPARE_ARG_TYPE	const EntryRefs
#define ST_COMPARE(a, b, side) \
	compare_prefix_entries(prefix_entry_at(side, *(a)), prefix_entry_at(side, *(b)))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE			static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Sort the entries of a side by 32 bits of the hash values of their keys.
 */
static void
sort_by_key(PrefixPairs *pairs, EntryRefs *side)
{
	side->n = side->entries->n;
	for (uint32 i = 0; i < side->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		side->ref[i] = splitmix64_finalize(join_entries_at(side->entries, i)->key) >> 32 << 32 | i;
	}
	entry_refs_sort(side, &pairs->scratch);
}

/*
 * Set the radius of all following pairs.
 */
void
prefix_pairs_set_radius(PrefixPairs *pairs, float8 radius)
{
	pairs->radius = radius;
	for (int sum = 0; sum < SUMS_IN_TABLE; sum++)
		pairs->min_both[sum] = jaccard_min_both(sum / 2, sum - sum / 2, radius);
}

/*
 * Start to pair the loaded entries of two inputs.  If `left` is `right`, two entries are paired
 * in one order, and each with itself if `itself` is true.  Frees the memory that the previous
 * call allocated.
 */
void
prefix_pairs_begin(PrefixPairs *pairs, const JoinEntries *left, const JoinEntries *right,
				   const uint32 *done, bool itself)
{
	MemoryContextReset(pairs->context);
	pairs->scratch = entry_refs_begin(&pairs->left, left, &pairs->right, right, pairs->context);
	pairs->done = done;
	pairs->is_self = left == right;
	pairs->itself = itself;
	sort_by_key(pairs, &pairs->right);
	if (pairs->is_self)
		pairs->left = pairs->right;
	else
		sort_by_key(pairs, &pairs->left);
	pairs->next_left = 0;
}

/*
 * Return the position of the first right entry of the sorted list that is not less than
 * `limit`, or that is greater if `over` is true.
 */
static uint32
find_right(const PrefixPairs *pairs, const PrefixEntry *limit, bool over)
{
	const EntryRefs *right = &pairs->right;
	uint32		low = right->first;
	uint32		high = right->end;

	FIND_FIRST(low, high, i,
			   compare_prefix_entries(prefix_entry_at(right, right->ref[i]), limit) < over);
	return low;
}

/*
 * Return the right entries of a sorted list to pair with a left entry: those beyond their
 * index prefixes if `beyond` is true, else the others.
 */
static PrefixRange
find_range(const PrefixPairs *pairs, const PrefixEntry *left, bool beyond)
{
	PrefixEntry	limit = {.entry.key = left->entry.key,.beyond_index_prefix = beyond};
	PrefixRange	range;

	range.next = find_right(pairs, &limit, false);
	limit.position = 1;
	limit.previous = PG_UINT64_MAX;
	range.end = range.first_met = range.end_met = find_right(pairs, &limit, true);
	if (left->position > 0 && range.next < range.end)
	{
		limit.previous = left->previous;
		range.first_met = find_right(pairs, &limit, false);
		range.end_met = find_right(pairs, &limit, true);
	}
	return range;
}

/*
 * Skip the right entries of a range that precede the current left entry, which is one of the
 * same list.
 */
static void
skip_to_following(const PrefixPairs *pairs, PrefixRange *range)
{
	range->next = Max(range->next, pairs->next_left);
	if (range->next > range->first_met)
		range->next = Max(range->next, range->end_met);
}

/*
 * Set the right entries to pair with the current left entry.  Two entries beyond their index
 * prefixes are not paired.
 */
static void
begin_left(PrefixPairs *pairs)
{
	const PrefixEntry *left = prefix_entry_at(&pairs->left, pairs->left.ref[pairs->next_left]);
	const EntryRefs *right = &pairs->right;

	pairs->range[0] = (PrefixRange) {right->first, right->end, right->end, right->end};
	pairs->range[1] = (PrefixRange) {0};
	if (pairs->sorted)
	{
		pairs->range[0] = find_range(pairs, left, false);
		if (!left->beyond_index_prefix)
			pairs->range[1] = find_range(pairs, left, true);
	}
	if (pairs->is_self && pairs->done == NULL)
		for (int i = 0; i < lengthof(pairs->range); i++)
			skip_to_following(pairs, &pairs->range[i]);
}

/*
 * Advance to the next hash value that keys of both inputs have.  Returns false if there are
 * no more.
 */
static bool
next_lists(PrefixPairs *pairs)
{
	EntryRefs  *left = &pairs->left;
	EntryRefs  *right = &pairs->right;

	if (!entry_refs_next_key(left, right, 32))
		return false;
	pairs->sorted = (uint64) (left->end - left->first) * (right->end - right->first) > LONG_LISTS;
	if (pairs->sorted)
	{
		if (!pairs->is_self)
			sort_list(&left->ref[left->first], left->end - left->first, left);
		sort_list(&right->ref[right->first], right->end - right->first, right);
	}
	pairs->next_left = left->first;
	begin_left(pairs);
	return true;
}

/*
 * Return true if two rows may be within the radius, and may meet here first.
 */
static bool
may_match(const PrefixPairs *pairs, const PrefixEntry *left, const PrefixEntry *right)
{
	return left->entry.key == right->entry.key &&
		(left->position == 0 || right->position == 0 || left->previous != right->previous) &&
		(int) Min(left->size - left->position, right->size - right->position) >=
		prefix_pairs_min_both(pairs, left->size, right->size);
}

/*
 * Return the next right entry to pair with the current left entry, or NULL if there are no more.
 */
static JoinEntry *
next_right(PrefixPairs *pairs)
{
	for (int i = 0; i < lengthof(pairs->range); i++)
	{
		PrefixRange *range = &pairs->range[i];

		for (;;)
		{
			JoinEntry  *right;

			if (range->next == range->first_met)
				range->next = range->end_met;
			if (range->next >= range->end)
				break;
			CHECK_FOR_INTERRUPTS();
			right = entry_refs_at(&pairs->right, range->next++);
			if (!pairs->is_self ||
				!join_pair_is_repeated(pairs->done, pairs->itself, pairs->next_left,
									   range->next - 1, right->row))
				return right;
		}
	}
	return NULL;
}

/*
 * Advance to the next pair of entries.  Returns false at the end, however often it is
 * called there.  Skips left entries that need no more matches.
 */
bool
prefix_pairs_next(PrefixPairs *pairs, JoinEntry **left, JoinEntry **right)
{
	do
	{
		while (pairs->next_left < pairs->left.end)
		{
			*left = entry_refs_at(&pairs->left, pairs->next_left);
			while (!join_row_is_done(pairs->done, (*left)->row) &&
				   (*right = next_right(pairs)) != NULL)
			{
				CHECK_FOR_INTERRUPTS();
				pairs->ncompared++;
				if (may_match(pairs, (PrefixEntry *) *left, (PrefixEntry *) *right))
					return true;
			}
			CHECK_FOR_INTERRUPTS();
			if (++pairs->next_left < pairs->left.end)
				begin_left(pairs);
		}
	} while (next_lists(pairs));
	return false;
}
