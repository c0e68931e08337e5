/*-------------------------------------------------------------------------
 *
 * index.c
 *		Tests of what an index computes: designs, probes, matches
 *
 *	index [SEED]
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres_fe.h"

#include "index/design.h"
#include "index/match.h"

#include "unit.h"

static int
popcount(uint64 x)
{
	int			n = 0;

	for (; x != 0; x &= x - 1)
		n++;
	return n;
}

/* A number with so many bits set, at random places. */
static uint64
random_bits(int n)
{
	uint64		bits = 0;

	/* Floyd's way to draw a set: no draw is in vain */
	for (int i = 64 - n; i < 64; i++)
	{
		uint64		bit = UINT64CONST(1) << random_below(i + 1);

		bits |= (bits & bit) ? UINT64CONST(1) << i : bit;
	}
	return bits;
}

static void
fail(int blocks, int table, const char *what)
{
	if (count_failure())
		printf("%d blocks, table %d: %s\n", blocks, table, what);
}

/*
 * The masks divide the bits; keys begin with them, keep distances and lead
 * back to the fingerprint.
 */
static void
test_designs(void)
{
	begin_group("designs");
	for (int blocks = DESIGN_MIN_BLOCKS; blocks <= DESIGN_MAX_BLOCKS; blocks++)
	{
		Design		design;
		uint64		all = 0;

		design_init(&design, blocks);
		if (design.ntables != blocks)
			fail(blocks, 0, "the wrong number of tables");
		for (int i = 0; i < design.ntables; i++)
		{
			TableDesign *table = &design.table[i];

			if ((all & table->mask) != 0 || popcount(table->mask) != table->nprefix)
				fail(blocks, i, "its mask is wrong");
			all |= table->mask;
			if (design_key(table, table->mask) !=
				~UINT64CONST(0) << (64 - table->nprefix))
				fail(blocks, i, "keys do not begin with its mask");
			for (int round = 0; round < 1000; round++)
			{
				uint64		a = random_word();
				uint64		b = random_word();

				if (design_fingerprint(table, design_key(table, a)) != a)
					fail(blocks, i, "a key does not lead back");
				if (popcount(design_key(table, a) ^ design_key(table, b)) !=
					popcount(a ^ b))
					fail(blocks, i, "keys do not keep distances");
				unit_checks++;
			}
		}
		if (all != ~UINT64CONST(0))
			fail(blocks, 0, "some bit is in no mask");
	}
	end_group("keys");
}

/*
 * Patterns have at most so many bits, among the first ones; they are all
 * different, being in order; and there are as many as there should be.
 */
static void
test_patterns(void)
{
	begin_group("patterns of flipped bits");
	for (int nprefix = 1; nprefix <= 20; nprefix++)
	{
		for (int flips = 0; flips <= Min(nprefix, 6); flips++)
		{
			uint64		pattern = 0;
			uint64		previous;
			double		n = 0;

			do
			{
				n++;
				previous = pattern;
				if (popcount(pattern) > flips || (pattern << nprefix) != 0)
					fail(nprefix, flips, "a pattern has other bits");
				unit_checks++;
			} while (design_next_pattern(&pattern, nprefix, flips) &&
					 (popcount(pattern) > popcount(previous) || pattern > previous));
			if (n != design_count_patterns(nprefix, flips))
				fail(nprefix, flips, "the number of patterns is wrong");
		}
	}
	if (design_count_patterns(16, -1) != 0)
		fail(16, -1, "a table that is not probed has patterns");
	end_group("patterns");
}

/*
 * Whatever is within the radius, some table's probes reach.
 */
static void
test_probes(void)
{
	begin_group("probes of every radius");
	for (int blocks = DESIGN_MIN_BLOCKS; blocks <= DESIGN_MAX_BLOCKS; blocks++)
	{
		Design		design;

		design_init(&design, blocks);
		for (int radius = 0; radius < 64; radius++)
		{
			ProbePlan	plan;

			design_plan_probes(&design, radius, &plan);
			for (int round = 0; round < 500; round++)
			{
				/* mostly at the very radius, where it is tight */
				uint64		difference = random_bits(random_below(4) ? radius :
													 (int) random_below(radius + 1));
				bool		reached = false;

				for (int i = 0; i < design.ntables; i++)
					reached |= design_probe_reaches(&design, &plan, i, difference);
				if (!reached && count_failure())
					printf("%d blocks, radius %d: %016llx is not reached\n", blocks,
						   radius, (unsigned long long) difference);
				unit_checks++;
			}
		}
	}
	end_group("differences");
}

#define NKEYS	581

static void
test_matches(const MatchMethod *method)
{
	uint64		keys[NKEYS];
	uint16		positions[NKEYS];

	for (int round = 0; round < 2000; round++)
	{
		int			n = random_below(NKEYS + 1);
		int			radius = random_below(65);
		uint64		query = random_word();
		int			nmatches;
		int			expected = 0;
		bool		right = true;

		for (int i = 0; i < n; i++)
		{
			int			distance = radius + (int) random_below(3);

			keys[i] = random_below(2) ? random_word() :
				query ^ random_bits(Min(64, distance));
		}
		nmatches = method->match(keys, n, query, radius, positions);
		for (int i = 0; i < n; i++)
		{
			if (popcount(keys[i] ^ query) > radius)
				continue;
			right = right && expected < nmatches && positions[expected] == i;
			expected++;
		}
		if ((!right || nmatches != expected) && count_failure())
			printf("%d of %d keys, radius %d: %d found\n", expected, n, radius, nmatches);
		unit_checks++;
	}
}

int
main(int argc, char **argv)
{
	seed_random(argc, argv);
	test_designs();
	test_patterns();
	test_probes();
	for (int i = 0; i < match_nmethods; i++)
	{
		char		name[64];

		if (!match_methods[i].available())
		{
			printf("skipped: this processor has no %s\n", match_methods[i].name);
			continue;
		}
		snprintf(name, sizeof(name), "matches, %s", match_methods[i].name);
		begin_group(name);
		test_matches(&match_methods[i]);
		end_group("rounds");
	}
	return end_tests();
}
