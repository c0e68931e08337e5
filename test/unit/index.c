/*
 * Tests of the computations of an index: designs, probes, matches
 *
 *	index [SEED]
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres_fe.h"

#include "compat.h"
#include "digest/match.h"
#include "index/simhash/probe_plan.h"

#include "unit.h"

static int
popcount(uint64 x)
{
	int			n = 0;

	for (; x != 0; x &= x - 1)
		n++;
	return n;
}

/* Return a number with n bits set, at random positions. */
static uint64
random_bits(int n)
{
	uint64		bits = 0;

	/* Floyd's algorithm to draw a set: each draw adds one bit */
	for (int i = 64 - n; i < 64; i++)
	{
		uint64		bit = UINT64CONST(1) << random_below(i + 1);

		bits |= (bits & bit) ? UINT64CONST(1) << i : bit;
	}
	return bits;
}

/* Call test(&options) for every design that a user can choose. */
static void
every_design(void (*test) (const DesignOptions *options))
{
	DesignOptions options;

	for (options.blocks = 0; options.blocks <= DESIGN_MAX_BLOCKS + 1; options.blocks++)
		for (options.prefix = 0; options.prefix <= options.blocks; options.prefix++)
			for (options.nested = 0; options.nested <= DESIGN_MAX_NESTED + 1; options.nested++)
				if (design_is_valid(&options) && !design_is_whole(&options))
					test(&options);
}

static void
fail(const DesignOptions *options, const char *what)
{
	if (count_failure())
		printf("blocks=%d, prefix=%d, nested=%d: %s\n", options->blocks,
			   options->prefix, options->nested, what);
}

static double
choose(int n, int k)
{
	return k == 0 ? 1 : choose(n - 1, k - 1) * n / k;
}

/*
 * Check that keys begin with the bits of the mask, keep distances and lead back to the
 * fingerprint.  Check that no two permuted tables of a design without nested blocks have
 * the same mask, and that each bit is in a mask.
 */
static void
test_design(const DesignOptions *options)
{
	Design		design;
	uint64		all = 0;

	design_init(&design, options);
	if (design.ntables != choose(options->blocks, options->prefix) * options->nested)
		fail(options, "the wrong number of permuted tables");
	for (int i = 0; i < design.ntables; i++)
	{
		PermutedTable *table = &design.table[i];
		uint64		key = design_key(table, table->mask);

		if (popcount(table->mask) != table->nprefix)
			fail(options, "a mask is wrong");
		if (table->ngroups > TABLE_MAX_GROUPS)
			fail(options, "too many groups of bits");
		for (int j = 0; j < i && options->nested == 1; j++)
			if (design.table[j].mask == table->mask)
				fail(options, "two permuted tables have the same mask");
		if (key != ~UINT64CONST(0) << (64 - table->nprefix))
			fail(options, "keys do not begin with the prefix");
		if (options->prefix == 1 && options->nested == 1 &&
			table->group[0].mask != ~UINT64CONST(0))
			fail(options, "keys are not just rotated");
		all |= table->mask;
		for (int round = 0; round < 200; round++)
		{
			uint64		a = random_word();
			uint64		b = random_word();

			if (design_fingerprint(table, design_key(table, a)) != a)
				fail(options, "a key does not lead back");
			if (popcount(design_key(table, a) ^ design_key(table, b)) != popcount(a ^ b))
				fail(options, "keys do not keep distances");
			unit_checks++;
		}
	}
	if (all != ~UINT64CONST(0))
		fail(options, "some bit is in no mask");
}

/*
 * Check a design of the paper (design.c): its number of permuted tables, the limits of its
 * prefix in bits, and that one probe of each permuted table is enough.
 */
static void
test_known_design(int blocks, int prefix, int nested, int ntables, int min_prefix,
				  int max_prefix)
{
	DesignOptions options = {blocks, prefix, nested};
	Design		design;
	ProbePlan	plan;

	design_init(&design, &options);
	if (design.ntables != ntables)
		fail(&options, "the wrong number of permuted tables");
	for (int i = 0; i < design.ntables; i++)
		if (design.table[i].nprefix < min_prefix || design.table[i].nprefix > max_prefix)
			fail(&options, "the prefix has the wrong length");
	probe_plan_init(&plan, &design, PROBE_PLAN_PREFIXES, ROWS_UNKNOWN);
	if (probe_plan_count_probes(&plan, blocks - prefix) != ntables)
		fail(&options, "one probe for each permuted table is not enough");
	unit_checks++;
}

static void
test_known_designs(void)
{
	test_known_design(4, 1, 1, 4, 16, 16);
	test_known_design(2, 1, 1, 2, 32, 32);
	test_known_design(5, 2, 1, 10, 25, 26);
	test_known_design(4, 1, 4, 16, 28, 28);
	test_known_design(6, 3, 1, 20, 31, 33);
}

/*
 * Return true if a fingerprint is in one of the ranges that a search has still to read.
 * Sets *probed to the permuted table in the probe plan.
 */
static bool
is_probed(Probing *probing, const Design *design, uint64 fp, int *probed)
{
	KeyRange	range;
	bool		found = false;

	while (probing_next(probing, &range))
	{
		uint64		key = design_key(&design->table[range.table], fp);

		if (key < range.low || key > range.high ||
			!probing_is_first(probing, range.probed, fp ^ probing->query))
			continue;
		if (found && count_failure())
			printf("%016llx is found twice\n", (unsigned long long) fp);
		found = true;
		*probed = range.probed;
	}
	return found;
}

/*
 * Check that patterns are different, as many as probe_plan_count_probes returns, and that
 * each is returned once while the radius grows.
 */
static void
test_patterns(const DesignOptions *options)
{
	Design		design;

	design_init(&design, options);
	for (int kind = 0; kind < PROBE_PLAN_KINDS; kind++)
	{
		ProbePlan	plan;
		Probing		probing;
		KeyRange	range;
		double		n = 0;

		probe_plan_init(&plan, &design, kind, random_below(2) ? 20000 : ROWS_UNKNOWN);
		probing_start(&probing, &design, &plan, random_word(), 0);
		for (int radius = 0;
			 probe_plan_count_probes(&plan, radius) < 5000 && radius <= 64; radius++)
		{
			uint64		previous = 0;
			int			table = -1;
			int			nflipped = -1;

			if (radius > 0)
				probing_extend(&probing, radius);
			while (probing_next(&probing, &range))
			{
				int			nbits = plan.table[range.probed].nbits;

				n++;
				if (range.probed == table && probing.nflipped == nflipped &&
					probing.pattern <= previous)
					fail(options, "a pattern is returned twice");
				if (popcount(probing.pattern) != probing.nflipped ||
					(nbits < 64 && probing.pattern << nbits != 0) ||
					probing.nflipped <= probing.before[range.probed] ||
					probing.nflipped > probing.after[range.probed])
					fail(options, "a pattern has other bits");
				table = range.probed;
				nflipped = probing.nflipped;
				previous = probing.pattern;
				unit_checks++;
			}
			if (n != probe_plan_count_probes(&plan, radius))
				fail(options, "the number of probes is wrong");
		}
	}
}

/*
 * Check that some permuted table finds each fingerprint within the radius, and that no
 * permuted table flips fewer bits at a larger radius.
 */
static void
test_reach(const DesignOptions *options)
{
	Design		design;

	design_init(&design, options);
	for (int kind = 0; kind < PROBE_PLAN_KINDS; kind++)
	{
		ProbePlan	plan;

		probe_plan_init(&plan, &design, kind, random_below(2) ? 1e6 : ROWS_UNKNOWN);
		for (int radius = 0; radius <= 64 && probe_plan_supports(&plan, radius); radius++)
		{
			for (int round = 0; round < 50; round++)
			{
				/* mostly exactly at the radius, where the bound is tight */
				uint64		difference = random_bits(random_below(4) ? radius :
													 (int) random_below(radius + 1));
				bool		reached = false;

				for (int i = 0; i < plan.ntables; i++)
					reached |= popcount(difference & plan.table[i].mask) <=
						probe_plan_max_flips(&plan, i, radius);
				if (!reached)
					fail(options, "a difference is not reached");
				unit_checks++;
			}
			for (int i = 0; radius > 0 && i < plan.ntables; i++)
				if (probe_plan_max_flips(&plan, i, radius) < probe_plan_max_flips(&plan, i, radius - 1))
					fail(options, "a larger radius reaches less");
		}
	}
}

/*
 * Check that a search within a radius finds a neighbor once, and that a search with a
 * growing radius does, too.
 */
static void
test_searches(const DesignOptions *options)
{
	Design		design;

	design_init(&design, options);
	for (int kind = 0; kind < PROBE_PLAN_KINDS; kind++)
	{
		ProbePlan	plan;

		probe_plan_init(&plan, &design, kind, random_below(2) ? 1e6 : ROWS_UNKNOWN);
		for (int round = 0; round < 20; round++)
		{
			Probing		probing;
			uint64		query = random_word();
			int			distance = random_below(8);
			uint64		fp = query ^ random_bits(distance);
			int			radius = distance + random_below(3);
			int			probed = 0;
			int			found = 0;

			if (probe_plan_count_probes(&plan, radius) > 10000 ||
				!probe_plan_supports(&plan, radius))
				continue;
			probing_start(&probing, &design, &plan, query, radius);
			if (!is_probed(&probing, &design, fp, &probed))
				fail(options, "a neighbor is not found");

			probing_start(&probing, &design, &plan, query, 0);
			for (int r = 0; r <= radius; r++)
			{
				if (r > 0)
					probing_extend(&probing, r);
				found += is_probed(&probing, &design, fp, &probed);
				if (r >= distance && found != 1)
					fail(options, "a growing search does not find a neighbor once");
			}
			unit_checks++;
		}
	}
}

#define NKEYS	581
#define NQUERIES	20

/* Check that a method finds the pairs that match by a rule, and in the right order. */
static void
check_matches(MatchFunction match, const uint64 *queries, int nqueries, const uint64 *keys,
			  int nkeys, const MatchRule *rule)
{
	static KeyMatch matches[NQUERIES * NKEYS];
	int			nmatches = match(queries, nqueries, keys, nkeys, rule, matches);
	int			expected = 0;
	bool		right = true;

	for (int i = 0; i < nqueries; i++)
	{
		int			m = 0;

		for (int j = queries == keys ? i + 1 : 0; j < nkeys; j++)
		{
			uint64		difference = queries[i] ^ keys[j];
			bool		matching = popcount(difference) <= rule->radius && !(difference & rule->same);

			for (int d = 0; d < rule->ndiffer; d++)
				matching = matching && (difference & rule->differ[d]);
			if (!matching)
				continue;
			while (m < nmatches && matches[m].query != i)
				m++;
			right = right && m < nmatches && matches[m++].key == j;
			expected++;
		}
	}
	if ((!right || nmatches != expected) && count_failure())
		printf("%d queries, %d keys, radius %d, %d masks: %d matches, %d found\n", nqueries, nkeys,
			   rule->radius, rule->ndiffer, expected, nmatches);
	unit_checks++;
}

static void
test_matches(MatchFunction match)
{
	uint64		keys[NKEYS];
	uint64		queries[NQUERIES];

	for (int round = 0; round < 2000; round++)
	{
		int			nkeys = random_below(round % 2 ? 40 : NKEYS + 1);
		int			nqueries = random_below(NQUERIES + 1);
		uint64		differ[] = {random_word(), random_bits(20), random_bits(8)};
		MatchRule	rule = {random_below(65), random_below(2) ? random_bits(2) : 0, differ,
			random_below(lengthof(differ) + 1)};

		for (int i = 0; i < nqueries; i++)
			queries[i] = random_word();
		for (int i = 0; i < nkeys; i++)
		{
			int			distance = rule.radius + (int) random_below(3);

			keys[i] = random_below(2) || nqueries == 0 ? random_word() :
				queries[random_below(nqueries)] ^ random_bits(Min(64, distance));
		}
		check_matches(match, queries, nqueries, keys, nkeys, &rule);
		check_matches(match, keys, Min(nqueries, nkeys), keys, nkeys, &rule);
	}
}

/* Check which servers reorder rows without losing their ctid. */
static void
test_servers(void)
{
	static const int lose[] = {140023, 150000, 150018, 150019, 160015, 170000, 170011, 180006, 190000};
	static const int keep[] = {150020, 150021, 160016, 170012, 180007, 190001, 200000, 210003};

	for (int i = 0; i < (int) lengthof(lose); i++)
	{
		unit_checks++;
		if (reordering_keeps_ctid(lose[i]) && count_failure())
			printf("%d loses the ctid\n", lose[i]);
	}
	for (int i = 0; i < (int) lengthof(keep); i++)
	{
		unit_checks++;
		if (!reordering_keeps_ctid(keep[i]) && count_failure())
			printf("%d keeps the ctid\n", keep[i]);
	}
}

int
main(int argc, char **argv)
{
	seed_random(argc, argv);
	begin_group("designs");
	every_design(test_design);
	test_known_designs();
	end_group("keys");
	begin_group("patterns of flipped bits");
	every_design(test_patterns);
	end_group("patterns");
	begin_group("probes of every radius");
	every_design(test_reach);
	end_group("differences");
	begin_group("searches that grow");
	every_design(test_searches);
	end_group("searches");
	for (int i = 0; i < match_nmethods; i++)
	{
		if (!begin_method_group("matches", &match_methods[i]))
			continue;
		test_matches((MatchFunction) match_methods[i].function);
		end_group("rounds");
	}
	begin_group("servers that keep the ctid");
	test_servers();
	end_group("servers");
	return end_tests();
}
