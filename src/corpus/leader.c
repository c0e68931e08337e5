/*
 * Clusters by the leader algorithm, in the order of rows
 *
 * Each row joins the first leader within the radius.  A row without one becomes a leader
 * (Hartigan, "Clustering Algorithms", 1975, chapter 3).
 *
 * Rows within the radius of each other are in one connected component.  So components are
 * found first, by single linkage.  Most components are small, and each of their rows is
 * compared with the leaders before it.  A large component would take too many comparisons,
 * so it is halved.  First, the leaders of the first half are found.  Then, near_pairs.c
 * finds the rows of the second half that join one of these leaders.  Last, the leaders
 * among the remaining rows are found.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "corpus/clustering.h"
#include "corpus/union_find.h"

/*
 * Maximum number of rows of a component that is not halved.  Each of its rows is compared
 * with the leaders before the row.
 */
#define FEW_ROWS			1024

/* Value for a leader that has not been found yet. */
#define NO_LEADER			PG_UINT32_MAX

typedef struct LeaderClustering
{
	NearPairs	near_pairs;		/* joins leaders, whose rows have ROW_MARK, with other rows */
	Members		members;		/* sorted by component, then by row */
	uint32	   *leader;			/* by row: the row of its leader, or NO_LEADER */
} LeaderClustering;

/*
 * Return the smallest row among n leaders within the radius of a fingerprint, or NO_LEADER
 * if there is none.  The rows of leaders may have ROW_MARK, but the result does not.
 * Checks for interrupts.
 */
static uint32
find_leader(const SimHash *leader_fp, const uint32 *leader_row, uint32 n, SimHash fp,
			int radius)
{
	MatchRule	rule = {.radius = radius};
	uint32		min_row = NO_LEADER;

	for (uint32 from = 0; from < n; from += COMPARED_AT_ONCE)
	{
		KeyMatch	matches[COMPARED_AT_ONCE];
		int			nmatches = match_keys(&fp, 1, leader_fp + from,
										  Min(COMPARED_AT_ONCE, n - from), &rule, matches);

		CHECK_FOR_INTERRUPTS();
		for (int m = 0; m < nmatches; m++)
			min_row = Min(min_row, leader_row[from + matches[m].key] & ~ROW_MARK);
	}
	return min_row;
}

/*
 * Return true if a range has only leaders, or no leaders.  Such a range needs no
 * comparison.  A NearPairs callback.
 */
static bool
leader_is_done(NearPairs *near_pairs, uint32 first, uint32 n)
{
	uint32	   *row = near_pairs->members.tag + first;

	for (uint32 i = 1; i < n; i++)
		if ((row[i] ^ row[0]) & ROW_MARK)
			return false;
	return true;
}

/*
 * Return the number of comparisons that leader_compare() makes.  A NearPairs
 * callback.
 */
static double
leader_comparisons(NearPairs *near_pairs, uint32 first, uint32 n)
{
	uint32		nleaders = 0;

	for (uint32 i = 0; i < n; i++)
		nleaders += (near_pairs->members.tag[first + i] & ROW_MARK) != 0;
	return (double) nleaders * (n - nleaders);
}

/*
 * Compare all leaders of a range with all other members of the range.  Updates the leader
 * of each member to the first one within the radius.  Moves the leaders to the front of
 * the range.
 */
static void
leader_compare(LeaderClustering *clustering, uint32 first, uint32 n)
{
	SimHash    *fp = clustering->near_pairs.members.fp + first;
	uint32	   *row = clustering->near_pairs.members.tag + first;
	uint32		nleaders = 0;

	for (uint32 i = 0; i < n; i++)
		if (row[i] & ROW_MARK)
			members_swap(&clustering->near_pairs.members, first + i, first + nleaders++);
	if (nleaders == 0)
		return;
	for (uint32 i = nleaders; i < n; i++)
	{
		uint32		found = find_leader(fp, row, nleaders, fp[i], clustering->near_pairs.radius);
		uint32	   *leader = &clustering->leader[row[i]];

		*leader = Min(*leader, found);
	}
}

/*
 * Find the leaders in a range of rows.  No row of the range may be within the radius of a
 * leader before the range.  Moves the leaders to the front of the range, and returns their
 * number.
 */
static uint32
lead_few(LeaderClustering *clustering, uint32 first, uint32 n)
{
	SimHash    *fp = clustering->members.fp + first;
	uint32	   *row = clustering->members.tag + first;
	uint32		nleaders = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		leader = find_leader(fp, row, nleaders, fp[i], clustering->near_pairs.radius);

		clustering->leader[row[i]] = Min(leader, row[i]);
		if (leader != NO_LEADER)
			continue;
		fp[nleaders] = fp[i];
		row[nleaders++] = row[i];
	}
	return nleaders;
}

/*
 * Find the rows that join one of the given leaders, among n rows from `first` on that have
 * no leader yet.  `leaders` is the index of the first leader.  Moves the rows that still
 * have no leader to the front of the range, and returns their number.
 */
static uint32
follow(LeaderClustering *clustering, uint32 leaders, uint32 nleaders, uint32 first, uint32 n)
{
	SimHash    *fp = clustering->members.fp;
	uint32	   *row = clustering->members.tag;
	Members    *joined = &clustering->near_pairs.members;
	uint32		range;
	uint32		size;
	uint32		kept = 0;

	memcpy(joined->fp, fp + leaders, nleaders * sizeof(SimHash));
	memcpy(joined->fp + nleaders, fp + first, n * sizeof(SimHash));
	for (uint32 i = 0; i < nleaders; i++)
		joined->tag[i] = row[leaders + i] | ROW_MARK;
	memcpy(joined->tag + nleaders, row + first, n * sizeof(uint32));
	near_pairs_begin(&clustering->near_pairs, nleaders + n, NULL, 0, 0);
	while (near_pairs_next(&clustering->near_pairs, &range, &size))
		leader_compare(clustering, range, size);
	near_pairs_end(&clustering->near_pairs);

	for (uint32 i = first; i < first + n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (clustering->leader[row[i]] != NO_LEADER)
			continue;
		fp[first + kept] = fp[i];
		row[first + kept++] = row[i];
	}
	return kept;
}

/*
 * Find the leaders in a range of any size.  See lead_few() for what it requires, moves and
 * returns.  In a large range, finds the leaders of the first half, removes the rows of the
 * second half that join them, and finds the leaders among the rest.
 */
static uint32
lead(LeaderClustering *clustering, uint32 first, uint32 n)
{
	SimHash    *fp = clustering->members.fp;
	uint32	   *row = clustering->members.tag;
	uint32		half = first + n / 2;
	uint32		nleaders;
	uint32		more;

	if (n <= FEW_ROWS)
		return lead_few(clustering, first, n);
	nleaders = lead(clustering, first, n / 2);
	more = follow(clustering, first, nleaders, half, n - n / 2);
	more = lead(clustering, half, more);
	memmove(fp + first + nleaders, fp + half, more * sizeof(SimHash));
	memmove(row + first + nleaders, row + half, more * sizeof(uint32));
	return nleaders + more;
}

/*
 * Find the leader of each row of a component, which has n members from `first` on.
 */
static void
lead_component(LeaderClustering *clustering, uint32 first, uint32 n)
{
	Members    *joined = &clustering->near_pairs.members;

	for (uint32 i = 0; i < n; i++)
		clustering->leader[clustering->members.tag[first + i]] = NO_LEADER;
	if (n > FEW_ROWS)
	{
		joined->scratch = clustering->members.scratch;
		joined->fp = palloc_extended(n * sizeof(SimHash), MCXT_ALLOC_HUGE);
		joined->tag = palloc_extended(n * sizeof(uint32), MCXT_ALLOC_HUGE);
	}
	lead(clustering, first, n);
	if (n > FEW_ROWS)
	{
		pfree(joined->fp);
		pfree(joined->tag);
	}
}

/*
 * Sort members by component, then by row.  fp_of_row[] has the fingerprints by row.  For
 * the root of each component, sets end[root] to the end of the component in `members`
 * (exclusive).  Rows that are not members must have ROW_MARK in parent[].
 */
static void
sort_by_component(Members *members, uint32 n, const SimHash *fp_of_row, uint32 nrows,
				  uint32 *parent, uint32 *end)
{
	uint32		sum = 0;

	memset(end, 0, nrows * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		end[union_find_root(parent, members->tag[i])]++;
	}
	for (uint32 row = 0; row < nrows; row++)
	{
		uint32		size = end[row];

		end[row] = sum;
		sum += size;
	}
	for (uint32 row = 0; row < nrows; row++)
	{
		uint32		position;

		CHECK_FOR_INTERRUPTS();
		if (parent[row] & ROW_MARK)
			continue;
		position = end[union_find_root(parent, row)]++;
		members->fp[position] = fp_of_row[row];
		members->tag[position] = row;
	}
}

/*
 * Find the leader of each row by the leader algorithm.  On entry, parent[] has the sets of
 * rows with equal fingerprints, each of which has one member, and NO_ROW for rows without
 * a fingerprint.  On return, parent[row] is the leader of the row, and a leader is its own
 * leader.
 */
void
cluster_leader(Members *members, uint32 n, int radius, uint32 *parent, uint32 nrows)
{
	LeaderClustering clustering = {
		.near_pairs = {
			.radius = radius,
			.random = members->seed,
			.comparisons = leader_comparisons,
			.is_done = leader_is_done
		},
		.members = *members,
		.leader = parent
	};
	SimHash    *fp_of_row = palloc_extended(nrows * sizeof(SimHash), MCXT_ALLOC_HUGE);
	uint32	   *end = palloc_extended(nrows * sizeof(uint32), MCXT_ALLOC_HUGE);
	uint32		first = 0;

	for (uint32 row = 0; row < nrows; row++)
		if (parent[row] != row)
			parent[row] |= ROW_MARK;
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fp_of_row[members->tag[i]] = members->fp[i];
	}
	cluster_single(members, n, radius, parent);
	sort_by_component(members, n, fp_of_row, nrows, parent, end);
	pfree(fp_of_row);

	while (first < n)
	{
		uint32		root = members->tag[first];
		uint32		size = end[root] - first;

		CHECK_FOR_INTERRUPTS();
		if (size > 1)
			lead_component(&clustering, first, size);
		first += size;
	}
	pfree(end);

	for (uint32 row = 0; row < nrows; row++)
	{
		CHECK_FOR_INTERRUPTS();
		if ((parent[row] & ROW_MARK) && parent[row] != NO_ROW)
			parent[row] = parent[parent[row] & ~ROW_MARK];
	}
}
