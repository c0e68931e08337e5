/*
 * Tests of signatures: all methods return the same minima, and the estimates are unbiased
 *
 *	minhash [SEED]
 *
 * sql/minhash.sql and test/reference/ have the numbers that must never change.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres_fe.h"

#include <math.h>

#include "digest/minhash.h"
#include "text/hash.h"

#include "unit.h"

#define MAX_HASHES		400

/* Number of pairs of sets for each estimated mean. */
#define TRIALS			2000

/*
 * A mean is wrong if it differs by more than so many standard errors: once in 1.7
 * million.
 */
#define SIGMAS			5

/* Shape of the signatures for estimates. */
#define BANDS			18
#define ROWS			7
#define LENGTH			(BANDS * ROWS)

static void
check_minima(const char *what, const uint32 *got, const uint32 *expected, int n)
{
	unit_checks++;
	for (int i = 0; i < n; i++)
		if (got[i] != expected[i])
		{
			if (count_failure())
				printf("%s, minimum %d of %d: %08x instead of %08x\n", what, i, n,
					   got[i], expected[i]);
			return;
		}
}

/*
 * Fill an array with hashes of different shapes: zero, with few ones or few zeros, and
 * repeated.  Returns their number.
 */
static int
make_hashes(uint64 *hashes)
{
	int			n = random_below(10) ? random_below(40) : random_below(MAX_HASHES);

	for (int i = 0; i < n; i++)
		switch (random_below(8))
		{
			case 0:
				hashes[i] = random_below(3) ? random_word() >> random_below(64) : 0;
				break;
			case 1:
				hashes[i] = ~(random_word() >> random_below(64));
				break;
			case 2:
				hashes[i] = i > 0 ? hashes[random_below(i)] : 1;
				break;
			default:
				hashes[i] = random_word();
		}
	return n;
}

static int
random_places(void)
{
	switch (random_below(20))
	{
		case 0:
			return 1 + random_below(MINIMA_MAX);
		case 1:
			return MINIMA_MAX;
		default:
			return 1 + random_below(200);
	}
}

static bool
build(uint32 *minima, int n, const uint64 *hashes, int nhashes)
{
	MinimaBuilder builder;

	minima_begin(&builder, minima, n);
	for (int i = 0; i < nhashes; i++)
		minima_add(&builder, hashes[i]);
	return minima_finish(&builder);
}

/*
 * Return the minima of a set by the portable method, as many as there can be.  The method
 * comes last.
 */
static const uint32 *
portable_minima(const uint64 *hashes, int nhashes)
{
	static uint32 minima[MINIMA_MAX];
	LowerFunction method = minima_lower;

	minima_lower = (LowerFunction) minima_lower_methods[minima_lower_nmethods - 1].function;
	build(minima, MINIMA_MAX, hashes, nhashes);
	minima_lower = method;
	return minima;
}

/*
 * Check whole sets, and sets in two parts whose minima are at the end of an allocation.
 */
static void
test_sets(int nsets)
{
	for (int set = 0; set < nsets; set++)
	{
		uint64		hashes[MAX_HASHES];
		int			nhashes = make_hashes(hashes);
		const uint32 *expected = portable_minima(hashes, nhashes);
		int			half = random_below(nhashes + 1);
		int			n = random_places();
		uint32	   *a = malloc(n * sizeof(uint32));
		uint32	   *b = malloc(n * sizeof(uint32));

		unit_checks++;
		if (build(a, n, hashes, nhashes) != (nhashes > 0) && count_failure())
			printf("%d features: emptiness differs\n", nhashes);
		check_minima("whole", a, expected, n);
		build(a, n, hashes, half);
		build(b, n, hashes + half, nhashes - half);
		minima_unite(a, b, n);
		check_minima("united", a, expected, n);
		free(a);
		free(b);
	}
}

/*
 * Check signatures of every possible length, of a few hashes.
 */
static void
test_places(void)
{
	for (int n = 1; n <= MINIMA_MAX; n++)
	{
		uint64		hashes[4];
		int			nhashes = 1 + random_below(lengthof(hashes));
		uint32	   *minima = malloc(n * sizeof(uint32));

		for (int i = 0; i < nhashes; i++)
			hashes[i] = random_word();
		build(minima, n, hashes, nhashes);
		check_minima("lengths", minima, portable_minima(hashes, nhashes), n);
		free(minima);
	}
}

/*
 * Check the counts of equal minima of two signatures that agree in some of them.
 */
static void
test_comparison(int npairs)
{
	begin_group("comparison");
	for (int pair = 0; pair < npairs; pair++)
	{
		int			bands = 1 + random_below(20);
		int			rows = 1 + random_below(10);
		int			alike = random_below(100);
		int			equal = 0;
		int			first = 0;
		bool		shares = false;
		uint32		a[200];
		uint32		b[200];

		for (int i = 0; i < bands * rows; i++)
		{
			a[i] = random_below(4) ? random_word() : 7;
			b[i] = random_below(100) < (uint32) alike ? a[i] : random_word();
			equal += a[i] == b[i];
			first += a[i] <= b[i];
		}
		for (int band = 0; band < bands; band++)
		{
			int			same = 0;

			for (int row = 0; row < rows; row++)
				same += a[band * rows + row] == b[band * rows + row];
			shares |= same == rows;
			unit_checks++;
			if ((minima_band_key(a, band, rows) == minima_band_key(b, band, rows)) !=
				(same == rows) && count_failure())
				printf("key of a band\n");
		}
		unit_checks += 3;
		if (minima_count_equal(a, b, bands * rows) != equal && count_failure())
			printf("equal minima\n");
		if (minima_count_first(a, b, bands * rows) != first && count_failure())
			printf("minima that are smaller in a\n");
		if (minima_share_band(a, b, bands, rows) != shares && count_failure())
			printf("shared band\n");
	}
	end_group("checks");
}

/*
 * Return the next key of a set: a random hash, or the hash of the next integer, from any
 * first integer.
 */
static uint64
next_key(bool of_integers, uint64 *integer)
{
	if (!of_integers)
		return random_word();
	(*integer)++;
	return hash_feature((const char *) integer, sizeof(*integer));
}

/*
 * Sums for the mean and the variance of many estimates.
 */
typedef struct Estimates
{
	double		sum;
	double		squares;
	int			n;
} Estimates;

static void
add_estimate(Estimates *estimates, double estimate)
{
	estimates->sum += estimate;
	estimates->squares += estimate * estimate;
	estimates->n++;
}

/*
 * Check that the mean is the true value, and that the variance, if given, is that of
 * theory.
 */
static void
check_estimates(const char *what, const Estimates *estimates, double truth, double variance)
{
	double		mean = estimates->sum / estimates->n;
	double		seen = estimates->squares / estimates->n - mean * mean;

	unit_checks++;
	if (fabs(mean - truth) > SIGMAS * sqrt(seen / estimates->n) && count_failure())
		printf("%s: mean %g instead of %g, standard error %g\n", what, mean, truth,
			   sqrt(seen / estimates->n));
	if (variance > 0 && fabs(seen / variance - 1) > SIGMAS * sqrt(2.0 / estimates->n) &&
		count_failure())
		printf("%s of %g: variance %g instead of %g\n", what, truth, seen, variance);
}

/*
 * Check pairs of sets that have `both` keys in common, and given numbers of keys of their
 * own.
 */
static void
test_pair(bool of_integers, int only_a, int only_b, int both)
{
	double		resemblance = (double) both / (only_a + only_b + both);
	double		probability = 1 - pow(1 - pow(resemblance, ROWS), BANDS);
	Estimates	jaccard = {0};
	Estimates	containment = {0};
	Estimates	shared = {0};

	for (int trial = 0; trial < TRIALS; trial++)
	{
		uint64		keys[MAX_HASHES];
		uint64		integer = random_word();
		uint32		a[LENGTH];
		uint32		b[LENGTH];
		int			equal;

		for (int i = 0; i < only_a + both + only_b; i++)
			keys[i] = next_key(of_integers, &integer);
		build(a, LENGTH, keys, only_a + both);
		build(b, LENGTH, keys + only_a, both + only_b);
		equal = minima_count_equal(a, b, LENGTH);
		add_estimate(&jaccard, (double) equal / LENGTH);
		add_estimate(&containment, (double) equal / minima_count_first(a, b, LENGTH));
		add_estimate(&shared, minima_share_band(a, b, BANDS, ROWS));
	}
	check_estimates("resemblance", &jaccard, resemblance,
					resemblance * (1 - resemblance) / LENGTH);
	check_estimates("containment", &containment, (double) both / (only_a + both), 0);
	/* a very rare event has no useful standard error */
	if (TRIALS * Min(probability, 1 - probability) > 30)
		check_estimates("shared band", &shared, probability, 0);
}

static void
test_cardinality(bool of_integers, int size)
{
	Estimates	cardinality = {0};

	for (int trial = 0; trial < TRIALS; trial++)
	{
		uint64		integer = random_word();
		uint32		minima[LENGTH];
		MinimaBuilder builder;

		minima_begin(&builder, minima, LENGTH);
		for (int i = 0; i < size; i++)
			minima_add(&builder, next_key(of_integers, &integer));
		minima_finish(&builder);
		add_estimate(&cardinality, minima_cardinality(minima, LENGTH));
	}
	check_estimates("cardinality", &cardinality, size,
					(double) size * size / (LENGTH - 2));
}

static void
test_estimates(const char *what, bool of_integers)
{
	begin_group(what);
	for (int tenths = 1; tenths <= 9; tenths++)
	{
		int			rest = 200 - 20 * tenths;

		test_pair(of_integers, rest / 2, rest - rest / 2, 20 * tenths);
		test_pair(of_integers, rest / 4, rest - rest / 4, 20 * tenths);
	}
	test_cardinality(of_integers, 5);
	test_cardinality(of_integers, 50);
	test_cardinality(of_integers, 2000);
	end_group("means");
}

int
main(int argc, char **argv)
{
	uint32		minimum;
	uint64		hash = 1;

	seed_random(argc, argv);
	/* the first of all calls computes the multipliers */
	build(&minimum, 1, &hash, 1);
	for (int i = 0; i < minima_lower_nmethods; i++)
	{
		if (!begin_method_group("minima", &minima_lower_methods[i]))
			continue;
		minima_lower = (LowerFunction) minima_lower_methods[i].function;
		test_sets(3000);
		test_places();
		end_group("signatures");
	}
	minima_lower = (LowerFunction) cpu_choose(minima_lower_methods);
	test_comparison(30000);
	test_estimates("estimates of random keys", false);
	test_estimates("estimates of integers", true);
	return end_tests();
}
