/*
 * Pairs of entries of two inputs within a radius
 *
 * Entries are sorted by the hash value of their equality keys, then by fingerprint.  A group
 * is all entries of both inputs with the same hash value.  Within a group, equal
 * fingerprints are one value.  pairs/near_pairs.c finds the pairs of values within the
 * radius.  So a self-join compares two values only once, and equal entries take linear time.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/match/distance_pairs.h"

/* Initial capacity of the arrays of values. */
#define FEW_VALUES			64

/* Number of values whose tuples are prefetched before they are paired with themselves. */
#define VALUES_AHEAD		16

/*
 * Return the number of comparisons that a range takes.  Two values are not compared if both have
 * only left entries, or if both have only right entries.  A NearPairs callback.
 */
static double
pairs_comparisons(NearPairs *near_pairs, uint32 first, uint32 n)
{
	JoinPairs  *pairs = (JoinPairs *) near_pairs;
	double		nleft = 0;
	double		nright = 0;

	for (uint32 i = first; i < first + n; i++)
	{
		nleft += near_pairs->members.tag[i] < pairs->first_right;
		nright += near_pairs->members.tag[i] >= pairs->end_left;
	}
	return ((double) n * n - nleft * nleft - nright * nright) / 2;
}

/*
 * Return true if a range has no right entry, or no left entry that needs a match.  A
 * NearPairs callback.
 */
static bool
pairs_are_done(NearPairs *near_pairs, uint32 first, uint32 n)
{
	JoinPairs  *pairs = (JoinPairs *) near_pairs;
	bool		has_left = false;
	bool		has_right = false;

	for (uint32 i = first; i < first + n; i++)
	{
		uint32		value = near_pairs->members.tag[i];

		has_right |= value >= pairs->first_right;
		has_left |= value < pairs->end_left &&
			(pairs->done == NULL || pairs->value[value].nunmatched > 0);
		if (has_left && has_right)
			return false;
	}
	return true;
}

/*
 * Start to pair the loaded entries of two inputs.  Before the first call, the caller zeroes the
 * iterator, and sets its context and the radius and the random state of the enumeration.  Before
 * each further call, it resets the context.  If `left` is `right`, two values are paired in one
 * order.
 *
 * If `cut` is not NULL, the entries are those of a partition by `block`, one of the cut's blocks.
 * Those with equal hash values agree on the first `nbits` bits of that block.  A pair that also
 * agrees on an earlier block is skipped here, because a partition by the earlier block reports it.
 */
void
join_pairs_begin(JoinPairs *pairs, const JoinEntries *left, const JoinEntries *right,
				 const uint32 *done, BlockCut *cut, int block, int nbits)
{
	pairs->near_pairs.comparisons = pairs_comparisons;
	pairs->near_pairs.is_done = pairs_are_done;
	pairs->left = left->entry;
	pairs->left_end = left->entry + left->n;
	pairs->right = right->entry;
	pairs->right_end = right->entry + right->n;
	pairs->done = done;
	pairs->is_self = left == right;
	pairs->cut = cut;
	pairs->block = block;
	pairs->nbits = nbits;
	pairs->capacity = 0;
	pairs->in_group = false;
}

/* --- values -------------------------------------------------------------------- */

/*
 * Return the end (exclusive) of the group that begins at an entry.
 */
static JoinEntry *
end_of_group(JoinEntry *entry, JoinEntry *end)
{
	uint32		hash = entry->hash;

	while (entry < end && entry->hash == hash)
		entry++;
	return entry;
}

/*
 * Make sure that the arrays have capacity for n values.  Their contents are lost if they
 * have to grow.
 */
static void
reserve_values(JoinPairs *pairs, Size n)
{
	Members    *members = &pairs->near_pairs.members;
	MemoryContext old;

	if (n <= pairs->capacity)
		return;
	if (pairs->capacity > 0)
	{
		pfree(pairs->value);
		pfree(members->fp);
		pfree(members->tag);
		pfree(members->scratch);
	}
	n = Max(n, FEW_VALUES);
	old = MemoryContextSwitchTo(pairs->context);
	pairs->value = palloc_extended(n * sizeof(JoinValue), MCXT_ALLOC_HUGE);
	members->fp = palloc_extended(n * sizeof(SimHash), MCXT_ALLOC_HUGE);
	members->tag = palloc_extended(n * sizeof(uint32), MCXT_ALLOC_HUGE);
	members->scratch = palloc_extended(n * sizeof(SimHash), MCXT_ALLOC_HUGE);
	MemoryContextSwitchTo(old);
	pairs->capacity = n;
}

/*
 * Read the next value of a group: the smallest remaining fingerprint and its entries in both
 * inputs.  Advances *left and *right beyond these entries.  Returns false at the end of the group.
 */
static bool
read_value(JoinEntry **left, JoinEntry *left_end, JoinEntry **right, JoinEntry *right_end,
		   JoinValue *value)
{
	SimHash		fp;

	if (*left < left_end && (*right == right_end || (*left)->key <= (*right)->key))
		fp = (*left)->key;
	else if (*right < right_end)
		fp = (*right)->key;
	else
		return false;

	value->left = *left;
	value->right = *right;
	value->nunmatched = 0;
	while (*left < left_end && (*left)->key == fp)
		(*left)++;
	while (*right < right_end && (*right)->key == fp)
		(*right)++;
	value->nleft = *left - value->left;
	value->nright = *right - value->right;
	return true;
}

/*
 * Count the left entries of a value that need a match.
 */
void
join_pairs_count_unmatched(JoinPairs *pairs, JoinValue *value)
{
	pairs->nunmatched -= value->nunmatched;
	value->nunmatched = 0;
	for (uint32 i = 0; i < value->nleft; i++)
		value->nunmatched += !join_row_is_done(pairs->done, value->left[i].row);
	pairs->nunmatched += value->nunmatched;
}

/*
 * Make the values of the group of entries up to left_end and right_end (exclusive).  Stores
 * them in the order that JoinPairs requires.
 */
static void
make_values(JoinPairs *pairs, JoinEntry *left_end, JoinEntry *right_end)
{
	Members    *members = &pairs->near_pairs.members;
	JoinEntry  *left = pairs->left;
	JoinEntry  *right = pairs->right;
	Size		n = 0;
	uint32		next[3];		/* next index for values with only left entries, with both,
								 * and with only right entries */
	JoinValue	value;

	memset(next, 0, sizeof(next));
	while (read_value(&left, left_end, &right, right_end, &value))
	{
		CHECK_FOR_INTERRUPTS();
		n++;
		if (value.nright == 0)
			next[1]++;
		if (value.nleft > 0)
			next[2]++;
	}
	reserve_values(pairs, n);
	pairs->nvalues = n;
	pairs->nunmatched = 0;
	pairs->first_right = next[1];
	pairs->end_left = next[2];
	pairs->ndistinct += n;

	left = pairs->left;
	right = pairs->right;
	while (read_value(&left, left_end, &right, right_end, &value))
	{
		uint32		i = next[value.nright == 0 ? 0 : value.nleft > 0 ? 1 : 2]++;

		CHECK_FOR_INTERRUPTS();
		members->fp[i] = value.nleft > 0 ? value.left->key : value.right->key;
		members->tag[i] = i;
		pairs->value[i] = value;
		join_pairs_count_unmatched(pairs, &pairs->value[i]);
	}
}

/*
 * Advance to the next group that has entries of both inputs.  Returns false if there is none.
 */
static bool
begin_group(JoinPairs *pairs)
{
	while (pairs->left < pairs->left_end && pairs->right < pairs->right_end)
	{
		JoinEntry  *left_end = pairs->left;
		JoinEntry  *right_end = pairs->right;
		bool		in_both;

		if (pairs->left->hash <= pairs->right->hash)
			left_end = end_of_group(pairs->left, pairs->left_end);
		if (pairs->right->hash <= pairs->left->hash)
			right_end = end_of_group(pairs->right, pairs->right_end);
		in_both = left_end > pairs->left && right_end > pairs->right;
		if (in_both)
			make_values(pairs, left_end, right_end);
		pairs->left = left_end;
		pairs->right = right_end;
		CHECK_FOR_INTERRUPTS();
		if (!in_both)
			continue;

		pairs->in_group = true;
		pairs->commute = false;
		/* equal fingerprints agree on block 0, so only partitions by block 0 pair them */
		pairs->nequal = pairs->cut && pairs->block > 0 ? pairs->end_left : pairs->first_right;
		pairs->member = pairs->nmembers = pairs->range_left_end = 0;
		pairs->compared_to = pairs->range_end = 0;
		pairs->nmatches = pairs->match = 0;
		near_pairs_begin(&pairs->near_pairs, pairs->near_pairs.radius == 0 ? 0 : pairs->nvalues,
							  pairs->cut, pairs->block, pairs->nbits);
		return true;
	}
	return false;
}

/* --- pairs --------------------------------------------------------------------- */

/*
 * Move the members of a range whose values are before index `limit` to the front.  Returns
 * the end of these members (exclusive).  Swaps members without a branch, since a branch
 * could not be predicted.
 */
static uint32
move_to_front(Members *members, uint32 first, uint32 end, uint32 limit)
{
	for (uint32 i = first; i < end; i++)
	{
		bool		is_before = members->tag[i] < limit;

		members_swap(members, i, first);
		first += is_before;
	}
	return first;
}

/*
 * In the current range, move members with only left entries to the front, and members with
 * only right entries to the end.
 */
static void
arrange_range(JoinPairs *pairs)
{
	Members    *members = &pairs->near_pairs.members;

	pairs->range_right = pairs->first_right == 0 ? pairs->range :
		move_to_front(members, pairs->range, pairs->range_end, pairs->first_right);
	if (pairs->end_left == pairs->nvalues)
		pairs->range_left_end = pairs->range_end;
	else if (pairs->end_left == pairs->first_right)
		pairs->range_left_end = pairs->range_right;
	else
		pairs->range_left_end = move_to_front(members, pairs->range_right, pairs->range_end,
											  pairs->end_left);
}

/*
 * Start to compare the members from `member` on with the members after them.  Members without
 * right entries are compared only with members that have right entries, so no other member is
 * compared along with them.
 */
static void
begin_members(JoinPairs *pairs, uint32 member)
{
	uint32		end = member < pairs->range_right ? pairs->range_right : pairs->range_left_end;

	pairs->member = member;
	pairs->nmembers = Min(end - member, MEMBERS_AT_ONCE);
	pairs->compared_to = Max(pairs->range_right, member);
}

/*
 * Skip the current members that need not be compared any more: they have no right entries, and
 * their left entries need no more matches.  Returns false if no current member is left.
 */
static bool
skip_done_members(JoinPairs *pairs)
{
	Members    *members = &pairs->near_pairs.members;
	uint32		end = pairs->member + pairs->nmembers;

	if (pairs->done && pairs->member < pairs->range_right)
		for (uint32 i = pairs->member; i < end; i++)
			if (pairs->value[members->tag[i]].nunmatched == 0)
				members_swap(members, i, pairs->member++);
	pairs->nmembers = end - pairs->member;
	return pairs->nmembers > 0;
}

/*
 * Return true if the members from `first` on need not be compared with each other: all have right
 * entries, and no left entry of theirs needs a match.
 */
static bool
rest_is_done(const JoinPairs *pairs, uint32 first)
{
	const uint32 *tag = pairs->near_pairs.members.tag;

	if (pairs->done == NULL || first < pairs->range_right)
		return false;
	while (first < pairs->range_left_end && pairs->value[tag[first]].nunmatched == 0)
		first++;
	return first == pairs->range_left_end;
}

/*
 * Record how the largest group was joined, for EXPLAIN.
 */
static void
record_method(JoinPairs *pairs)
{
	if (pairs->nvalues <= pairs->largest_group)
		return;
	pairs->largest_group = pairs->nvalues;
	pairs->agree = pairs->near_pairs.agree;
	pairs->nblocks = pairs->near_pairs.nblocks;
}

/*
 * Advance to the next range of the enumeration that needs comparisons.  Returns false
 * if there is none.
 */
static bool
advance_range(JoinPairs *pairs)
{
	uint32		n;

	do
	{
		if (!near_pairs_next(&pairs->near_pairs, &pairs->range, &n))
			return false;
		record_method(pairs);
		pairs->range_end = pairs->range + n;
		arrange_range(pairs);
	} while (pairs->range_left_end == pairs->range || pairs->range_right == pairs->range_end);
	begin_members(pairs, pairs->range);
	return true;
}

/*
 * Compare the current members with the next members after them.
 */
static void
compare_members(JoinPairs *pairs)
{
	const SimHash *fp = pairs->near_pairs.members.fp;
	uint32		from = pairs->compared_to;
	uint32		n = Min(pairs->range_end - from, MEMBERS_AT_ONCE);
	MatchRule	rule = near_pairs_rule(&pairs->near_pairs);

	pairs->compared_from = from;
	pairs->compared_to = from + n;
	pairs->ncompared += pairs->nmembers * n;
	if (from == pairs->member)
		pairs->ncompared -= pairs->nmembers * (pairs->nmembers + 1) / 2;
	pairs->match = 0;
	pairs->nmatches = match_keys(fp + pairs->member, pairs->nmembers, fp + from, n,
								 &rule, pairs->matches);
}

/*
 * Compare members until the current range reports at least one pair.  Returns false at the end
 * of the group.  Checks for interrupts.
 */
static bool
compare_more(JoinPairs *pairs)
{
	for (;;)
	{
		uint32		next = pairs->member + pairs->nmembers;

		CHECK_FOR_INTERRUPTS();
		if (pairs->compared_to < pairs->range_end && skip_done_members(pairs))
		{
			compare_members(pairs);
			if (pairs->nmatches > 0)
				return true;
		}
		else if (next < pairs->range_left_end && !rest_is_done(pairs, next))
			begin_members(pairs, next);
		else if (!advance_range(pairs))
			return false;
	}
}

/*
 * Advance to the next two members that are within the radius and that the current range
 * reports.  Returns false at the end of the group.
 */
static bool
next_members(JoinPairs *pairs, uint32 *a, uint32 *b)
{
	const KeyMatch *match;

	if (pairs->match == pairs->nmatches && !compare_more(pairs))
		return false;
	match = &pairs->matches[pairs->match++];
	*a = pairs->member + match->query;
	*b = pairs->compared_from + match->key;
	return true;
}

/*
 * Advance to the next pair of values of the current group.  Returns false at the end of the
 * group.  Pairs each value that has entries of both inputs with itself first.  Prefetches
 * tuples of these values, because nearly every tuple is a cache miss.  If both values of a
 * pair have left and right entries of two inputs, returns it twice, once in each order.
 */
static bool
next_pair(JoinPairs *pairs, JoinValue **left, JoinValue **right)
{
	uint32	   *tag = pairs->near_pairs.members.tag;
	uint32		a;
	uint32		b;

	if (pairs->nequal < pairs->end_left)
	{
		if (pairs->nequal + VALUES_AHEAD < pairs->end_left)
		{
			const JoinValue *ahead = &pairs->value[pairs->nequal + VALUES_AHEAD];

			join_tuple_prefetch(ahead->left->location);
			join_tuple_prefetch(ahead->right->location);
		}
		*left = *right = &pairs->value[pairs->nequal++];
		return true;
	}
	if (pairs->commute)
	{
		JoinValue  *value = *left;

		*left = *right;
		*right = value;
		pairs->commute = false;
		return true;
	}
	if (!next_members(pairs, &a, &b))
		return false;
	*left = &pairs->value[Min(tag[a], tag[b])];
	*right = &pairs->value[Max(tag[a], tag[b])];
	pairs->commute = (!pairs->is_self || pairs->done) && (*left)->nright > 0 &&
		(*right)->nleft > 0;
	return true;
}

/*
 * Advance to the next pair of values within the radius.  On entry, *left and *right must be the
 * previous pair.  Returns false at the end.  Skips left values whose rows need no more matches.
 */
bool
join_pairs_next(JoinPairs *pairs, JoinValue **left, JoinValue **right)
{
	MemoryContext old = MemoryContextSwitchTo(pairs->context);
	bool		found = false;

	while (!found && (pairs->in_group || begin_group(pairs)))
	{
		found = (pairs->done == NULL || pairs->nunmatched > 0) && next_pair(pairs, left, right);
		if (!found)
		{
			near_pairs_end(&pairs->near_pairs);
			pairs->in_group = false;
		}
		else if (pairs->done && (*left)->nunmatched == 0)
			found = false;
	}
	MemoryContextSwitchTo(old);
	return found;
}
