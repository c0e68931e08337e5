/*
 * Tests of sketches: they follow the definition; the guarantee of winnowing; and how many
 * elements sets within a radius lack
 *
 *	sketch [SEED]
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres_fe.h"

#include <math.h>

#include "digest/hash_list.h"
#include "digest/winnow.h"
#include "text/hash.h"

struct Node;					/* utils/float.h of PostgreSQL 19 does not declare it */
#include "type/hash_array.h"

#include "unit.h"

#define MAX_HASHES		5000

/* Limits of texts of tokens.  Tokens are numbers. */
#define MAX_TOKENS		800

/* Number of pairs of texts with a common passage. */
#define PASSAGES		100000

static int
compare_unsigned(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

static int
compare_signed(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/*
 * Sort, and remove duplicates.  Returns the new number.
 */
static int
naive_set(uint64 *hashes, int n)
{
	int			kept = 0;

	qsort(hashes, n, sizeof(uint64), compare_unsigned);
	for (int i = 0; i < n; i++)
		if (kept == 0 || hashes[i] != hashes[kept - 1])
			hashes[kept++] = hashes[i];
	return kept;
}

/*
 * Fill an array with hashes of different shapes: random, few different ones, ascending,
 * descending, of one digit.  Returns their number.
 */
static int
make_hashes(uint64 *hashes)
{
	int			n = random_below(3) ? random_below(400) : random_below(MAX_HASHES);
	uint32		shape = random_below(7);
	uint64		start = random_word();

	for (int i = 0; i < n; i++)
		switch (shape)
		{
			case 0:
				hashes[i] = random_word() % (1 + random_below(300));
				break;
			case 1:
				hashes[i] = start + i * UINT64CONST(0x0001000100010001);
				break;
			case 2:
				hashes[i] = start - i * UINT64CONST(0x0001000100010001);
				break;
			case 3:
				hashes[i] = start ^ (uint64) random_below(256) << 8 * random_below(8);
				break;
			case 4:
				hashes[i] = random_below(2) ? PG_UINT64_MAX - random_below(3) : random_below(3);
				break;
			default:
				hashes[i] = random_word();
		}
	return n;
}

/*
 * Check that the elements are those of the set, in signed order.
 */
static void
check_elements(const char *what, HashList *list, const uint64 *set, int n)
{
	int64	   *expected = malloc((n + 1) * sizeof(int64));

	memcpy(expected, set, n * sizeof(int64));
	qsort(expected, n, sizeof(int64), compare_signed);
	unit_checks++;
	if ((!hash_list_finish(list) || list->n != n) && count_failure())
		printf("%s: %d elements instead of %d\n", what, list->n, n);
	else if (memcmp(list->hashes, expected, n * sizeof(int64)) != 0 && count_failure())
		printf("%s: other elements, of %d\n", what, n);
	pfree(list->hashes);
	free(expected);
}

/*
 * Check the sketches of sets.
 */
static void
test_sets(int nsets)
{
	begin_group("sets");
	for (int set = 0; set < nsets; set++)
	{
		static uint64 hashes[MAX_HASHES];
		int			n = make_hashes(hashes);
		HashList	all;
		bool		fits = true;

		hash_list_begin(&all);
		for (int i = 0; i < n; i++)
			fits &= hash_list_add(&all, hashes[i]);
		unit_checks++;
		if (!fits && count_failure())
			printf("%d hashes are too many\n", n);
		n = naive_set(hashes, n);
		check_elements("all", &all, hashes, n);
	}
	end_group("checks");
}

/*
 * Check the largest possible sketch, and that one more element is refused.
 */
static void
test_limit(void)
{
	HashList	list;

	begin_group("limit");
	hash_list_begin(&list);
	for (uint64 i = 0; i < HASH_LIST_MAX; i++)
	{
		unit_checks++;
		if (!hash_list_add(&list, i << 20) && count_failure())
			printf("element %llu does not fit\n", (unsigned long long) i);
	}
	unit_checks += 2;
	if (!hash_list_finish(&list) && count_failure())
		printf("the largest does not fit\n");
	if (hash_list_add(&list, 1) && hash_list_finish(&list) && count_failure())
		printf("one more fits\n");
	pfree(list.hashes);
	end_group("checks");
}

/*
 * Return the number of hashes selected by winnowing, each counted as often as it is
 * emitted.
 */
static int
winnow(const uint64 *hashes, int n, int window, uint64 *selection)
{
	Winnower	winnower;
	int			nselected = 0;

	winnow_begin(&winnower, window);
	for (int i = 0; i < n; i++)
		nselected += winnow_next(&winnower, hashes[i], &selection[nselected]);
	return nselected + winnow_finish(&winnower, &selection[nselected]);
}

static int
naive_winnow(const uint64 *hashes, int n, int window, uint64 *selection)
{
	int			nselected = 0;

	for (int first = 0; n > 0 && first <= Max(n - window, 0); first++)
	{
		selection[nselected] = hashes[first];
		for (int i = first; i < Min(first + window, n); i++)
			selection[nselected] = Min(selection[nselected], hashes[i]);
		nselected++;
	}
	return naive_set(selection, nselected);
}

static int
random_window(int n)
{
	switch (random_below(4))
	{
		case 0:
			return 1 + random_below(4);
		case 1:
			return 1 + random_below(192);
		case 2:
			/* about the length of the text */
			return n < 3 ? 1 : n - 2 + random_below(5);
		default:
			return 1 + random_below(40);
	}
}

/*
 * Check the example of Schleimer, Wilkerson and Aiken, figure 2.  The paper selects 17 17
 * 8 39 17.  The first two are equal, and of consecutive equal ones winnow_next() returns
 * one.
 */
static void
test_published_example(void)
{
	static const uint64 hashes[] = {
		77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98
	};
	static const uint64 expected[] = {17, 8, 39, 17};
	uint64		got[lengthof(hashes)];
	int			ngot = winnow(hashes, lengthof(hashes), 4, got);

	begin_group("winnowing, the published example");
	unit_checks++;
	if ((ngot != lengthof(expected) || memcmp(got, expected, sizeof(expected)) != 0) &&
		count_failure())
		printf("%d hashes are selected\n", ngot);
	end_group("checks");
}

static void
test_winnowing(int nsets)
{
	begin_group("winnowing");
	for (int set = 0; set < nsets; set++)
	{
		static uint64 hashes[MAX_HASHES];
		static uint64 got[MAX_HASHES];
		static uint64 expected[MAX_HASHES];
		int			n = make_hashes(hashes) % 600;
		int			window = random_window(n);
		int			ngot = naive_set(got, winnow(hashes, n, window, got));
		int			nexpected = naive_winnow(hashes, n, window, expected);

		unit_checks++;
		if ((ngot != nexpected || memcmp(got, expected, ngot * sizeof(uint64)) != 0) &&
			count_failure())
			printf("%d hashes, window %d: %d selected instead of %d\n", n, window, ngot,
				   nexpected);
	}
	end_group("checks");
}

/*
 * Winnow a text of tokens.  Returns the number of elements.
 */
static int
winnow_tokens(const uint32 *tokens, int n, int guarantee, int width, uint64 *selection)
{
	uint64		hashes[MAX_TOKENS];
	int			nshingles = n < width ? 1 : n - width + 1;

	for (int i = 0; i < nshingles; i++)
		hashes[i] = hash_feature((const char *) (tokens + i), Min(width, n) * sizeof(uint32));
	return naive_set(selection, winnow(hashes, nshingles, guarantee - width + 1, selection));
}

static bool
intersect(const uint64 *a, int na, const uint64 *b, int nb)
{
	int			i = 0;
	int			j = 0;

	while (i < na && j < nb)
	{
		if (a[i] == b[j])
			return true;
		if (a[i] < b[j])
			i++;
		else
			j++;
	}
	return false;
}

/*
 * Fill a text with random tokens and a passage at a random position.  Returns its length.
 * With few different tokens many hashes are equal.
 */
static int
surround(uint32 *tokens, uint32 alphabet, uint32 salt, const uint32 *passage, int length)
{
	int			before = random_below(4) ? random_below(100) : 0;
	int			after = random_below(4) ? random_below(100) : 0;

	for (int i = 0; i < before + length + after; i++)
		tokens[i] = i >= before && i < before + length ? passage[i - before] :
			random_below(alphabet) + salt;
	return before + length + after;
}

/*
 * Check that texts with a common passage of at least `guarantee` tokens have a common
 * element, and that texts with a common passage of only width - 1 tokens have none.
 */
static void
test_guarantee(bool long_enough)
{
	begin_group(long_enough ? "guaranteed passages" : "passages shorter than a shingle");
	for (int trial = 0; trial < PASSAGES; trial++)
	{
		int			width = 1 + (random_below(4) ? random_below(12) : random_below(60));
		int			guarantee = width + (random_below(4) ? random_below(40) : random_below(300));
		int			length = long_enough ? guarantee : width - 1;
		uint32		alphabet = long_enough ? 1 + random_below(1000) : PG_UINT32_MAX / 4;
		uint32		salt = long_enough ? 0 : PG_UINT32_MAX / 2;
		uint32		passage[MAX_TOKENS];
		uint32		a[MAX_TOKENS];
		uint32		b[MAX_TOKENS];
		uint64		of_a[MAX_TOKENS];
		uint64		of_b[MAX_TOKENS];
		int			na;
		int			nb;

		for (int i = 0; i < length; i++)
			passage[i] = random_below(alphabet);
		na = surround(a, alphabet, 0, passage, length);
		nb = surround(b, alphabet, salt, passage, length);
		if (Min(na, nb) < width && !long_enough)
			continue;
		na = winnow_tokens(a, na, guarantee, width, of_a);
		nb = winnow_tokens(b, nb, guarantee, width, of_b);
		unit_checks++;
		if (intersect(of_a, na, of_b, nb) != long_enough && count_failure())
			printf("passage of %d tokens, guarantee %d, width %d\n", length, guarantee, width);
	}
	end_group("pairs");
}

/*
 * Check the density: of random hashes a window of w selects 2 in w + 1.
 */
static void
test_density(void)
{
	static const int windows[] = {1, 2, 5, 17, 50, 97};

	begin_group("density");
	for (int i = 0; i < (int) lengthof(windows); i++)
	{
		int			n = 1000000;
		double		expected = 2.0 / (windows[i] + 1);
		double		density;
		uint64	   *hashes = malloc(n * sizeof(uint64));
		uint64	   *selection = malloc(n * sizeof(uint64));

		for (int j = 0; j < n; j++)
			hashes[j] = random_word();
		density = (double) winnow(hashes, n, windows[i], selection) / n;
		printf("window %d: density %.5f, in theory %.5f\n", windows[i], density, expected);
		unit_checks++;
		/* the selections are nearly independent: five standard errors are below this */
		if (fabs(density - expected) > 5 * sqrt(expected / n) && count_failure())
			printf("window %d: density %g instead of %g\n", windows[i], density, expected);
		free(hashes);
		free(selection);
	}
	end_group("windows");
}

/*
 * Return true if a distance is within a radius, as PostgreSQL compares numbers: NaN is
 * greater than all others.
 */
static bool
is_within(double distance, double radius)
{
	return isnan(radius) || distance <= radius;
}

/*
 * max_missing() and jaccard_min_both() return the very bound that the distances have: at the
 * distances of small sets, at the numbers next to these, and beyond 0 and 1.
 */
static void
test_bounds(int max)
{
	const double others[] = {NAN, INFINITY, -INFINITY, -1, 2};

	begin_group("elements that a set within a radius lacks");
	for (int n = 1; n <= max; n++)
		for (int i = 0; i < 3 * (n + 1) + (int) lengthof(others); i++)
		{
			double		fraction = (double) (i / 3) / n;
			double		radius = i >= 3 * (n + 1) ? others[i - 3 * (n + 1)] :
				i % 3 == 0 ? fraction : nextafter(fraction, i % 3 == 1 ? -1 : 2);
			int			missing = -1;

			while (missing < n && is_within((double) (missing + 1) / n, radius))
				missing++;
			unit_checks++;
			if (max_missing(n, radius) != missing && count_failure())
				printf("%d of %d within %.17g, not %d\n", max_missing(n, radius), n, radius,
					   missing);
			for (int other = 1; other <= n; other += 1 + n / 8)
			{
				int			both = 0;

				while (both <= other &&
					   !is_within((double) (n + other - 2 * both) / (n + other - both), radius))
					both++;
				unit_checks++;
				if (jaccard_min_both(n, other, radius) != both && count_failure())
					printf("%d in both of %d and %d within %.17g, not %d\n",
						   jaccard_min_both(n, other, radius), n, other, radius, both);
			}
		}
	end_group("bounds");
}

int
main(int argc, char **argv)
{
	seed_random(argc, argv);
	test_sets(3000);
	test_limit();
	test_published_example();
	test_winnowing(4000);
	test_guarantee(true);
	test_guarantee(false);
	test_density();
	test_bounds(100);
	return end_tests();
}
