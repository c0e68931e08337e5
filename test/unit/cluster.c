/*
 * Tests of clusters and of their join, compared with a comparison of all pairs
 *
 *	cluster [SEED]
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres_fe.h"

#include "corpus/clustering.h"
#include "corpus/union_find.h"

#include "unit.h"

#define MAX_TESTED		10000
#define MAX_JOINED		1000

static SimHash fp[MAX_TESTED];
static bool has_fp[MAX_TESTED];
static uint32 expected[MAX_TESTED];
static uint32 parent[MAX_TESTED];

static int
distance(SimHash a, SimHash b)
{
	return __builtin_popcountll(a ^ b);
}

/* Return a number with at most so many bits set. */
static uint64
few_bits(int n)
{
	uint64		bits = 0;

	for (int i = random_below(n + 1); i > 0; i--)
		bits |= UINT64CONST(1) << random_below(64);
	return bits;
}

/* Return bits that are each set with a probability of 1 / 2^n. */
static uint64
rare_bits(int n)
{
	uint64		bits = random_word();

	while (n-- > 1)
		bits &= random_word();
	return bits;
}

/*
 * Shapes of fingerprints, from uniform ones to families whose members are all near each
 * other.  A few fingerprints are NULL.
 */
enum
{
	UNIFORM, PLANTED, CONSTANT_BLOCK, FAMILY, LOOSE_FAMILY, FEW_VARY, RARE_BITS, EQUAL,
	COUNTED, CHAIN, TWICE, MIXED, SHAPES
};

static SimHash
random_fingerprint(int shape, uint32 i)
{
	uint64		center = UINT64CONST(0x0123456789abcdef);

	switch (shape)
	{
		case UNIFORM:
			return random_word();
		case PLANTED:
			return i % 10 == 0 ? random_word() : fp[i - i % 10] ^ few_bits(5);
		case CONSTANT_BLOCK:
			return random_word() >> 16;
		case FAMILY:
			return center ^ few_bits(3);
		case LOOSE_FAMILY:
			return center ^ few_bits(12);
		case FEW_VARY:
			return center ^ (random_word() & UINT64CONST(0x1111010111100111));
		case RARE_BITS:
			return rare_bits(4);
		case EQUAL:
			return random_below(10) == 0 ? random_word() : center;
		case COUNTED:
			return i;
		case CHAIN:
			return i == 0 ? center : fp[i - 1] ^ few_bits(4);
		case TWICE:
			return (random_word() >> 32) * UINT64CONST(0x100000001);
		default:
			return random_fingerprint(random_below(MIXED), i);
	}
}

/* Compute the cluster of each row by brute force, or NO_ROW. */
static void
expect_single(uint32 n, int radius)
{
	for (uint32 i = 0; i < n; i++)
		expected[i] = i;
	for (uint32 i = 0; i < n; i++)
		for (uint32 j = 0; j < i && has_fp[i]; j++)
			if (has_fp[j] && distance(fp[i], fp[j]) <= radius)
				union_find_join(expected, i, j);
	for (uint32 i = 0; i < n; i++)
		expected[i] = has_fp[i] ? union_find_root(expected, i) : NO_ROW;
}

static void
expect_leader(uint32 n, int radius)
{
	for (uint32 i = 0; i < n; i++)
	{
		expected[i] = NO_ROW;
		for (uint32 j = 0; j <= i && has_fp[i]; j++)
			if (has_fp[j] && expected[j] == j && distance(fp[i], fp[j]) <= radius)
			{
				expected[i] = j;
				break;
			}
		if (has_fp[i] && expected[i] == NO_ROW)
			expected[i] = i;
	}
}

static void
find_clusters(uint32 n, int radius, bool leader)
{
	static SimHash member_fp[MAX_TESTED];
	static uint32 member_row[MAX_TESTED];
	static SimHash scratch[MAX_TESTED];
	Members		members = {member_fp, member_row, scratch, random_below(1000)};
	uint32		nmembers = 0;

	for (uint32 i = 0; i < n; i++)
	{
		parent[i] = has_fp[i] ? i : NO_ROW;
		if (!has_fp[i])
			continue;
		member_fp[nmembers] = fp[i];
		member_row[nmembers++] = i;
	}
	cluster_equal(&members, &nmembers, parent, n);
	if (leader)
		cluster_leader(&members, nmembers, radius, parent, n);
	else
		cluster_single(&members, nmembers, radius, parent);
}

static void
test_clusters(int shape, uint32 n, int radius, bool leader)
{
	for (uint32 i = 0; i < n; i++)
	{
		fp[i] = random_fingerprint(shape, i);
		has_fp[i] = random_below(20) != 0;
	}
	if (leader)
		expect_leader(n, radius);
	else
		expect_single(n, radius);
	find_clusters(n, radius, leader);
	for (uint32 i = 0; i < n; i++)
	{
		uint32		found = has_fp[i] ? union_find_root(parent, i) : parent[i];

		unit_checks++;
		if (found != expected[i] && count_failure())
			printf("shape %d, %u rows, radius %d: row %u is in %u, not %u\n",
				   shape, n, radius, i, found, expected[i]);
	}
}

static void
test_method(const char *name, bool leader)
{
	static const int radii[] = {0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 63, 64};

	begin_group(name);
	for (int shape = 0; shape < SHAPES; shape++)
		for (size_t i = 0; i < lengthof(radii); i++)
		{
			for (uint32 n = 0; n < 5; n++)
				test_clusters(shape, n, radii[i], leader);
			for (uint32 n = 10; n < 1500; n *= 3)
				test_clusters(shape, n + random_below(n), radii[i], leader);
		}
	for (int shape = 0; shape < SHAPES; shape++)
	{
		test_clusters(shape, MAX_TESTED, 3, leader);
		test_clusters(shape, MAX_TESTED / 2, 8, leader);
	}
	end_group("rows");
}

static double
all_comparisons(NearPairs *near_pairs, uint32 first, uint32 n)
{
	return n / 2.0 * n;
}

/*
 * Check that a join reports each pair within the radius once, whatever order compare()
 * leaves.
 */
static void
test_pairs(int shape, uint32 n, int radius)
{
	static SimHash member_fp[MAX_JOINED];
	static uint32 member_row[MAX_JOINED];
	static SimHash scratch[MAX_JOINED];
	static uint8 reports[MAX_JOINED][MAX_JOINED];
	static KeyMatch matches[MAX_JOINED * MAX_JOINED];
	NearPairs	near_pairs = {
		.members = {member_fp, member_row, scratch, 0},
		.radius = radius,
		.random = random_below(1000),
		.comparisons = all_comparisons
	};
	uint32		first;
	uint32		count;

	for (uint32 i = 0; i < n; i++)
	{
		fp[i] = member_fp[i] = random_fingerprint(shape, i);
		member_row[i] = i;
		memset(reports[i], 0, n);
	}
	near_pairs_begin(&near_pairs, n, NULL, 0, 0);
	while (near_pairs_next(&near_pairs, &first, &count))
	{
		MatchRule	rule = near_pairs_rule(&near_pairs);
		int			nmatches = match_keys(member_fp + first, count, member_fp + first, count, &rule,
										  matches);

		for (int i = 0; i < nmatches; i++)
		{
			uint32		a = member_row[first + matches[i].query];
			uint32		b = member_row[first + matches[i].key];

			reports[Max(a, b)][Min(a, b)] += reports[Max(a, b)][Min(a, b)] < 2;
		}
	}
	near_pairs_end(&near_pairs);
	for (uint32 i = 0; i < n; i++)
		for (uint32 j = 0; j < i; j++)
		{
			bool		near = distance(fp[i], fp[j]) <= radius;

			unit_checks++;
			if (reports[i][j] != near && count_failure())
				printf("shape %d, %u rows, radius %d: the pair %u, %u at distance %d is reported %d times\n",
					   shape, n, radius, i, j, distance(fp[i], fp[j]), reports[i][j]);
		}
}

static void
test_join(void)
{
	static const int radii[] = {0, 1, 2, 3, 5, 8, 12, 20, 40, 64};

	begin_group("pairs of a join");
	for (int shape = 0; shape < SHAPES; shape++)
		for (size_t i = 0; i < lengthof(radii); i++)
		{
			for (uint32 n = 0; n < 4; n++)
				test_pairs(shape, n, radii[i]);
			test_pairs(shape, 10 + random_below(MAX_JOINED - 10), radii[i]);
			test_pairs(shape, MAX_JOINED, radii[i]);
		}
	end_group("pairs");
}

int
main(int argc, char **argv)
{
	seed_random(argc, argv);
	test_method("single linkage", false);
	test_method("leaders", true);
	test_join();
	return end_tests();
}
