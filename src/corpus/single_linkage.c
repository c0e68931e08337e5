/*-------------------------------------------------------------------------
 *
 * single_linkage.c
 *		Clusters by single linkage: connected components within a radius
 *
 * Two fingerprints are in one cluster if there is a chain of fingerprints from one to
 * the other, each within the radius of the next.
 *
 * Of a range of fingerprints not every pair need be compared: those that were reached
 * from one of them are visited in turn, and compared only with what has not been
 * reached.  So where nearly all are near each other, one pass is enough.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifdef FRONTEND
#include "postgres_fe.h"
#define CHECK_FOR_INTERRUPTS()		((void) 0)
#else
#include "postgres.h"

#include "miscadmin.h"
#endif

#include "port/pg_bitutils.h"

#include "corpus/clustering.h"
#include "corpus/union_find.h"
#include "digest/splitmix.h"
#include "index/simhash/match.h"

/* Members that are compared at a time. */
#define COMPARED_AT_ONCE		1024

/* Members looked at to see how many neighbors there are. */
#define NEIGHBOR_SAMPLE			256

/* Visits go on as long as each reaches one of so many of those not reached. */
#define WORTH_VISITING			16

typedef struct SingleLinkage
{
	SimilarityJoin join;
	uint32	   *parent;			/* of each row: disjoint sets */
} SingleLinkage;

/*
 * Join the sets of two members.  Both come to know the set by its root: when they meet
 * again, as near members do in many ranges, a look at the members is enough.
 */
static inline void
join_sets(uint32 *parent, uint32 *a, uint32 *b)
{
	if (*a == *b)
		return;
	union_find_join(parent, *a, *b);
	*a = *b = union_find_root(parent, *a);
}

static inline void
swap_members(Members *members, uint32 a, uint32 b)
{
	SimHash		fp = members->fp[a];
	uint32		set = members->row[a];

	members->fp[a] = members->fp[b];
	members->row[a] = members->row[b];
	members->fp[b] = fp;
	members->row[b] = set;
}

/*
 * Visit the i-th member of a range, which becomes any of those up to `reached`: so that
 * visits are spread, and do not compare again what a neighbor has compared.  Join it with
 * all within the radius of those from `reached` on, and bring these before `reached`, which
 * is advanced.
 */
static uint32
visit(SingleLinkage *linkage, uint32 i, uint32 reached, uint32 end)
{
	Members    *members = &linkage->join.members;
	SimHash    *fp = members->fp;
	uint32	   *set = members->row;

	swap_members(members, i, i + draw_below(&linkage->join.random, reached - i));
	for (uint32 from = reached; from < end; from += COMPARED_AT_ONCE)
	{
		uint16		positions[COMPARED_AT_ONCE];
		int			nmatches = match_keys(fp + from, Min(COMPARED_AT_ONCE, end - from),
										  fp[i], linkage->join.radius, positions);

		CHECK_FOR_INTERRUPTS();
		for (int m = 0; m < nmatches; m++, reached++)
		{
			uint32		match = from + positions[m];

			join_sets(linkage->parent, &set[i], &set[match]);
			/* what comes into its place was compared before */
			swap_members(members, match, reached);
		}
	}
	return reached;
}

/*
 * Join all members of a range that are within the radius.  What is equal to a member
 * reaches nothing that this one has not.
 */
static void
single_compare(SimilarityJoin *join, uint32 first, uint32 n)
{
	uint32		end = first + n;
	uint32		reached = first;

	for (uint32 i = first; reached < end; i = join->radius == 0 ? reached : i + 1)
		reached = visit((SingleLinkage *) join, i, Max(reached, i + 1), end);
}

/*
 * Most members are soon reached where they have many neighbors: then each visit compares
 * with as many as it takes to find one.  Members without neighbors are compared with each
 * other.  Both are estimated by pairs of a random sample; equal members may be one drawn
 * twice, and say nothing.
 */
static double
single_comparisons(SimilarityJoin *join, uint32 first, uint32 n)
{
	int			nsample = Min(NEIGHBOR_SAMPLE, Max(16, n / 16));
	SimHash		sample[NEIGHBOR_SAMPLE];
	bool		has_neighbor[NEIGHBOR_SAMPLE] = {false};
	double		npairs = nsample * (nsample - 1) / 2;
	int			nnear = 0;
	double		lonely = 0;

	if (join->radius == 0)
		return n / 2.0 * n;
	for (int i = 0; i < nsample; i++)
	{
		sample[i] = join->members.fp[first + draw_below(&join->random, n)];
		for (int j = 0; j < i; j++)
		{
			if (sample[i] == sample[j] ||
				pg_popcount64(sample[i] ^ sample[j]) > join->radius)
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
 * Whether all members are in one cluster.
 */
static bool
single_settled(SimilarityJoin *join, uint32 first, uint32 n)
{
	uint32	   *parent = ((SingleLinkage *) join)->parent;
	uint32	   *set = join->members.row + first;

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
 * Visit members as long as each reaches many others.
 */
static uint32
single_reduce(SimilarityJoin *join, uint32 first, uint32 n)
{
	uint32		end = first + n;
	uint32		reached = first;
	uint32		before;
	uint32		i = first;

	do
	{
		before = reached = Max(reached, i + 1);
		reached = visit((SingleLinkage *) join, i++, reached, end);
	} while (reached < end &&
			 (uint64) (reached - before) * WORTH_VISITING > end - before);
	return (reached < end ? i : end) - first;
}

/*
 * Join the sets of all members that are within the radius of each other: the smallest
 * row of a cluster becomes the root of its rows.  Members come to have the number of
 * another row of their cluster in the place of their own.
 */
void
cluster_single(Members *members, uint32 n, int radius, uint32 *parent)
{
	SingleLinkage linkage = {
		.join = {
			.members = *members,
			.radius = radius,
			.random = members->seed,
			.compare = single_compare,
			.comparisons = single_comparisons,
			.settled = single_settled,
			.reduce = single_reduce
		},
		.parent = parent
	};

	if (n > 1)
		similarity_join(&linkage.join, 0, n);
}

/*
 * Make the root of each row its parent.  Parents come before their children; so do
 * their roots.
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
 * Join the sets of equal members, and keep of these only one, with the smallest row.
 * *n is their number.  The root becomes the parent of all rows of a set.
 */
void
cluster_equal(Members *members, uint32 *n, uint32 *parent, uint32 nrows)
{
	uint32		kept = 0;

	cluster_single(members, *n, 0, parent);
	cluster_roots(parent, nrows);
	for (uint32 i = 0; i < *n; i++)
	{
		uint32		root = parent[members->row[i]] & ~ROW_MARK;

		CHECK_FOR_INTERRUPTS();
		if (parent[root] != root)
			continue;
		parent[root] |= ROW_MARK;
		members->fp[kept] = members->fp[i];
		members->row[kept++] = root;
	}
	for (uint32 i = 0; i < kept; i++)
		parent[members->row[i]] &= ~ROW_MARK;
	*n = kept;
}
