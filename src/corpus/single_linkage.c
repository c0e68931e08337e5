/*
 * Clusters by single linkage: connected components within a radius
 *
 * Two fingerprints are in one cluster if a chain of fingerprints leads from one to the
 * other, each within the radius of the next.
 *
 * In a range of fingerprints, not every pair has to be compared.  Start at one
 * fingerprint.  Visit every fingerprint reached so far, in turn, and compare it only with
 * the fingerprints not reached yet.  If nearly all fingerprints are near each other, one
 * visit reaches nearly all of them.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "port/pg_bitutils.h"

#include "corpus/clustering.h"
#include "corpus/union_find.h"
#include "digest/splitmix.h"

/* Maximum size of the sample from which the number of neighbors is estimated. */
#define NEIGHBOR_SAMPLE			256

typedef struct SingleLinkage
{
	NearPairs	near_pairs;
	uint32	   *parent;			/* disjoint sets of rows */
} SingleLinkage;

/*
 * Join the sets of two members.  Stores the root of the joined set in both.  Near members
 * are in the same range many times, and later it is enough to compare the stored roots.
 */
static inline void
join_sets(uint32 *parent, uint32 *a, uint32 *b)
{
	if (*a == *b)
		return;
	union_find_join(parent, *a, *b);
	*a = *b = union_find_root(parent, *a);
}

/*
 * Visit one of the members i to `reached` - 1, which have been reached and not visited.
 * Compares it with the members from `reached` to `end` - 1, and joins its set with the
 * sets of those within the radius.  These have then been reached, so they are moved before
 * `reached`.  The visited member is chosen at random and swapped to index i.  A random
 * choice spreads the visits, so that they do not repeat the comparisons of a neighbor.
 * Returns the new value of `reached`.  Checks for interrupts.
 */
static uint32
visit(SingleLinkage *linkage, uint32 i, uint32 reached, uint32 end)
{
	Members    *members = &linkage->near_pairs.members;
	SimHash    *fp = members->fp;
	uint32	   *set = members->tag;
	MatchRule	rule = {.radius = linkage->near_pairs.radius};

	members_swap(members, i, i + draw_below(&linkage->near_pairs.random, reached - i));
	for (uint32 from = reached; from < end; from += COMPARED_AT_ONCE)
	{
		KeyMatch	matches[COMPARED_AT_ONCE];
		int			nmatches = match_keys(&fp[i], 1, fp + from, Min(COMPARED_AT_ONCE, end - from),
										  &rule, matches);

		CHECK_FOR_INTERRUPTS();
		for (int m = 0; m < nmatches; m++, reached++)
		{
			uint32		match = from + matches[m].key;

			join_sets(linkage->parent, &set[i], &set[match]);
			/* the member that moves to `match` has already been compared */
			members_swap(members, match, reached);
		}
	}
	return reached;
}

/*
 * Join the sets of all members of a range that are within the radius of each other.
 * Visits each member that has been reached, as long as others have not.  At radius 0, only
 * one of several equal members is visited, since it reaches all of them.
 */
static void
single_compare(SingleLinkage *linkage, uint32 first, uint32 n)
{
	uint32		end = first + n;
	uint32		reached = first;

	for (uint32 i = first; reached < end; i = linkage->near_pairs.radius == 0 ? reached : i + 1)
		reached = visit(linkage, i, Max(reached, i + 1), end);
}

/*
 * Estimate the number of comparisons that single_compare() makes.  Members with many
 * neighbors are reached soon, and each visit makes as many comparisons as it takes to find
 * one neighbor.  Members without neighbors are compared with each other.  Both numbers are
 * estimated from the pairs of a random sample.  Equal members of the sample are ignored,
 * since they may be one member drawn twice.  A NearPairs callback.
 */
static double
single_comparisons(NearPairs *near_pairs, uint32 first, uint32 n)
{
	int			nsample = Min(NEIGHBOR_SAMPLE, Max(16, n / 16));
	SimHash		sample[NEIGHBOR_SAMPLE];
	bool		has_neighbor[NEIGHBOR_SAMPLE] = {false};
	double		npairs = nsample * (nsample - 1) / 2;
	int			nnear = 0;
	double		lonely = 0;

	if (near_pairs->radius == 0)
		return n / 2.0 * n;
	for (int i = 0; i < nsample; i++)
	{
		sample[i] = near_pairs->members.fp[first + draw_below(&near_pairs->random, n)];
		for (int j = 0; j < i; j++)
		{
			if (sample[i] == sample[j] ||
				pg_popcount64(sample[i] ^ sample[j]) > near_pairs->radius)
				continue;
			has_neighbor[i] = has_neighbor[j] = true;
			nnear++;
		}
	}
	for (int i = 0; i < nsample; i++)
		lonely += !has_neighbor[i];
	lonely *= (double) n / nsample;
	return Min(n / 2.0 * n, n * npairs / (nnear + 0.5) + lonely * lonely / 2);
}

/*
 * Return true if all members of a range are in one cluster.  A NearPairs callback.
 */
static bool
single_is_done(NearPairs *near_pairs, uint32 first, uint32 n)
{
	uint32	   *parent = ((SingleLinkage *) near_pairs)->parent;
	uint32	   *set = near_pairs->members.tag + first;

	set[0] = union_find_root(parent, set[0]);
	for (uint32 i = 1; i < n; i++)
	{
		if (set[i] == set[0])
			continue;
		CHECK_FOR_INTERRUPTS();
		set[i] = union_find_root(parent, set[i]);
		if (set[i] != set[0])
			return false;
	}
	return true;
}

/*
 * Join the sets of all members within the radius of each other.  The smallest row of a
 * cluster becomes the root of the rows of the cluster.  On return, members->tag[] no
 * longer has the row of each member, but that of any row in its cluster.
 */
void
cluster_single(Members *members, uint32 n, int radius, uint32 *parent)
{
	SingleLinkage linkage = {
		.near_pairs = {
			.members = *members,
			.radius = radius,
			.random = members->seed,
			.comparisons = single_comparisons,
			.is_done = single_is_done
		},
		.parent = parent
	};
	uint32		first;

	near_pairs_begin(&linkage.near_pairs, n, NULL, 0, 0);
	while (near_pairs_next(&linkage.near_pairs, &first, &n))
		single_compare(&linkage, first, n);
	near_pairs_end(&linkage.near_pairs);
}

/*
 * Make the root of each row its parent.  A parent is a smaller row than its children.  So
 * one pass in the order of rows is enough, because the root of the parent has already been
 * found.
 */
void
cluster_roots(uint32 *parent, uint32 nrows)
{
	for (uint32 row = 0; row < nrows; row++)
	{
		CHECK_FOR_INTERRUPTS();
		if (parent[row] != NO_ROW)
			parent[row] = parent[parent[row]];
	}
}

/*
 * Join the sets of equal members, and keep only one member of each set: that with the
 * smallest row, which becomes the parent of all rows of the set.  *n is the number of
 * members, before and after.
 */
void
cluster_equal(Members *members, uint32 *n, uint32 *parent, uint32 nrows)
{
	uint32		kept = 0;

	cluster_single(members, *n, 0, parent);
	cluster_roots(parent, nrows);
	for (uint32 i = 0; i < *n; i++)
	{
		uint32		root = parent[members->tag[i]] & ~ROW_MARK;

		CHECK_FOR_INTERRUPTS();
		if (parent[root] != root)
			continue;
		parent[root] |= ROW_MARK;
		members->fp[kept] = members->fp[i];
		members->tag[kept++] = root;
	}
	for (uint32 i = 0; i < kept; i++)
	{
		CHECK_FOR_INTERRUPTS();
		parent[members->tag[i]] &= ~ROW_MARK;
	}
	*n = kept;
}
