/*
 * Tests of the accumulator, compared with 64 counters
 *
 *	accumulate [SEED]
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres_fe.h"

#include "digest/accumulate.h"

#include "unit.h"

#define MAX_FEATURES	3000
#define SETS			100000	/* random sets in a group */

/* A set of features, for the accumulator and for the definition. */
static uint64 hashes[MAX_FEATURES];
static int64 weights[MAX_FEATURES];
static int	nfeatures;

/*
 * Return a hash of a shape: one that differs everywhere, repeats, has mostly zeros or
 * ones, or cancels out.
 */
static uint64
random_hash(int shape, int i)
{
	switch (shape)
	{
		case 0:
			return UINT64CONST(1) << random_below(64);
		case 1:
			return ~(random_word() & random_word() & random_word());
		case 2:
			return i % 2 ? ~hashes[i - 1] : random_word();
		case 3:
			return i > 0 ? hashes[random_below(i)] : random_word();
		default:
			return random_word();
	}
}

static int64
random_weight(void)
{
	switch (random_below(8))
	{
		case 0:
			return 0;
		case 1:
			return -(int64) (random_word() >> 20);	/* up to WEIGHT_MAX */
		case 2:
			return random_word() >> 20;
		case 3:
			return WEIGHT_ONE;
		default:
			return random_word() >> 38;
	}
}

static void
make_features(bool weighted)
{
	int			shape = random_below(8);

	/* mostly small sets, sometimes a large one */
	nfeatures = random_below(50) ? random_below(40) : random_below(MAX_FEATURES);
	for (int i = 0; i < nfeatures; i++)
	{
		hashes[i] = random_hash(shape, i);
		weights[i] = weighted ? random_weight() : WEIGHT_ONE;
	}
}

/*
 * Compute the fingerprint by the definition.  Returns false if no feature has a weight
 * other than 0.
 */
static bool
naive_fingerprint(uint64 *fingerprint)
{
	bool		any = false;

	*fingerprint = 0;
	for (int bit = 0; bit < 64; bit++)
	{
		int64		counter = 0;

		for (int i = 0; i < nfeatures; i++)
		{
			if ((hashes[i] >> bit) & 1)
				counter += weights[i];
			else
				counter -= weights[i];
			any |= (weights[i] != 0);
		}
		if (counter > 0)
			*fingerprint |= UINT64CONST(1) << bit;
	}
	return any;
}

/*
 * Add the features from `from` to `to`.  Features of weight one use both ways at random.
 */
static void
add_features(Accumulator *acc, int from, int to, bool weighted)
{
	for (int i = from; i < to; i++)
	{
		if (weights[i] == WEIGHT_ONE && !(weighted && random_below(2)))
			accumulator_add(acc, hashes[i]);
		else if (!accumulator_add_weighted(acc, hashes[i], weights[i]) &&
				 count_failure())
			printf("a weight was refused\n");
	}
}

static void
check_fingerprint(Accumulator *acc)
{
	uint64		expected;
	uint64		got;
	bool		any = naive_fingerprint(&expected);

	unit_checks++;
	if (accumulator_fingerprint(acc, &got) != any)
	{
		if (count_failure())
			printf("%d features: emptiness differs\n", nfeatures);
	}
	else if (got != expected && count_failure())
		printf("%d features: %016llx instead of %016llx\n", nfeatures,
			   (unsigned long long) got, (unsigned long long) expected);
}

static void
test_whole(int nsets, bool weighted)
{
	for (int set = 0; set < nsets; set++)
	{
		Accumulator acc;

		memset(&acc, 0, sizeof(Accumulator));
		make_features(weighted);
		add_features(&acc, 0, nfeatures, weighted);
		check_fingerprint(&acc);
	}
}

/*
 * Check accumulators as parallel workers use them: parts that are merged, and read
 * between merges.
 */
static void
test_merged(int nsets)
{
	begin_group("parts merged");
	for (int set = 0; set < nsets; set++)
	{
		bool		weighted = random_below(2);
		Accumulator whole;
		int			done = 0;

		memset(&whole, 0, sizeof(Accumulator));
		make_features(weighted);
		while (done < nfeatures)
		{
			int			next = done + 1 + random_below(nfeatures - done);
			Accumulator part;
			uint64		ignored;

			memset(&part, 0, sizeof(Accumulator));
			add_features(&part, done, next, weighted);
			if (random_below(4) == 0)
				accumulator_fingerprint(&part, &ignored);
			if (!accumulator_merge(&whole, &part) && count_failure())
				printf("a merge was refused\n");
			done = next;
		}
		check_fingerprint(&whole);
	}
	end_group("sets");
}

/*
 * Check that an accumulator refuses more weight than its counters can hold, and adds
 * nothing of it.
 */
static void
test_overflow(void)
{
	Accumulator acc;
	Accumulator other;
	uint64		fingerprint;

	begin_group("weights that are too large");
	memset(&acc, 0, sizeof(Accumulator));
	unit_checks = 5;
	if (!accumulator_add_weighted(&acc, 5, -(int64) MAGNITUDE_MAX) && count_failure())
		printf("the largest weight was refused\n");
	if (accumulator_add_weighted(&acc, 2, 1) && count_failure())
		printf("one more was accepted\n");
	if (accumulator_add_weighted(&acc, 2, PG_INT64_MIN) && count_failure())
		printf("the smallest integer was accepted\n");
	memset(&other, 0, sizeof(Accumulator));
	accumulator_add(&other, 2);
	if (accumulator_merge(&acc, &other) && count_failure())
		printf("a merge was accepted\n");
	accumulator_fingerprint(&acc, &fingerprint);
	if (fingerprint != ~UINT64CONST(5) && count_failure())
		printf("a refused weight has changed the sums\n");
	end_group("checks");
}

int
main(int argc, char **argv)
{
	seed_random(argc, argv);

	begin_group("features of weight one");
	test_whole(SETS, false);
	end_group("sets");

	for (int i = 0; i < weigh_nmethods; i++)
	{
		if (!begin_method_group("weighted features", &weigh_methods[i]))
			continue;
		weigh = (WeighFunction) weigh_methods[i].function;
		test_whole(SETS, true);
		end_group("sets");
	}
	test_merged(SETS);
	test_overflow();
	return end_tests();
}
