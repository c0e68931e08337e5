/*-------------------------------------------------------------------------
 *
 * union_find.h
 *		Disjoint sets of numbers
 *
 * Each number below some n has a parent; one of a set is its own parent: the root, by
 * which the set is known.  Where sets are joined by union_find_join parents are not
 * larger, and the root is the smallest; who joins them otherwise has other roots.
 *
 * Paths to the root are halved as they are walked, so that a walk takes logarithmic
 * time, amortised, though neither ranks nor sizes are kept.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_UNION_FIND_H
#define SIMHASH_UNION_FIND_H

/*
 * The number i becomes a set of its own.
 */
static inline void
union_find_add(uint32 *parent, uint32 i)
{
	parent[i] = i;
}

/*
 * The root of the set that i is in.
 */
static inline uint32
union_find_root(uint32 *parent, uint32 i)
{
	while (parent[i] != i)
	{
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

/*
 * Join the sets that a and b are in.  Returns whether they were two.
 */
static inline bool
union_find_join(uint32 *parent, uint32 a, uint32 b)
{
	a = union_find_root(parent, a);
	b = union_find_root(parent, b);
	if (a == b)
		return false;
	parent[Max(a, b)] = Min(a, b);
	return true;
}

#endif							/* SIMHASH_UNION_FIND_H */
