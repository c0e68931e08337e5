/*
 * Disjoint sets of numbers
 *
 * Each number below some n has a parent.  The root of a set is its own parent and
 * identifies the set.  union_find_join() keeps parents at most as large as their
 * children, so the root is the smallest number of the set.  A caller that joins sets in
 * another way gets other roots.
 *
 * Paths to the root are halved while they are followed.  So finding a root takes
 * amortized logarithmic time, with neither ranks nor sizes kept.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_UNION_FIND_H
#define SIMHASH_UNION_FIND_H

/*
 * Return the root of the set of i.
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
 * Join the sets of a and b.
 */
static inline void
union_find_join(uint32 *parent, uint32 a, uint32 b)
{
	a = union_find_root(parent, a);
	b = union_find_root(parent, b);
	parent[Max(a, b)] = Min(a, b);
}

#endif							/* SIMHASH_UNION_FIND_H */
