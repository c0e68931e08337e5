/*-------------------------------------------------------------------------
 *
 * sketch.c
 *		Some of a text's hashes, which stand for it
 *
 * Hashes wait, as they come, until there is no more room.  Then they are sorted, and
 * those that came twice, or are not among the smallest, are dropped; if most stay, the
 * room is doubled.  So a hash is sorted a few times on average, and never are more than
 * twice as many in memory as are kept.
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

#include "digest/sketch.h"

/* Bits that one pass of a sort looks at. */
#define DIGIT_BITS		8
#define DIGITS			(1 << DIGIT_BITS)

/* What is longer is sorted by digits. */
#define INSERTION_MAX	96

/*
 * Begin with no hash.  most is 1 to SKETCH_MAX, or SKETCH_ALL.
 */
void
sketch_begin(Sketch *sketch, int max_size)
{
	sketch->max_size = max_size;
	sketch->greatest = PG_UINT64_MAX;
	sketch->n = 0;
	sketch->capacity = SKETCH_INLINE;
	sketch->hashes = sketch->inline_hashes;
}

static uint64 *
make_hashes(int capacity)
{
	return palloc_extended(capacity * sizeof(uint64), MCXT_ALLOC_HUGE);
}

void
sketch_free(Sketch *sketch)
{
	if (sketch->hashes != sketch->inline_hashes)
		pfree(sketch->hashes);
}

static void
sort_by_insertion(uint64 *hashes, int n)
{
	for (int i = 1; i < n; i++)
	{
		uint64		hash = hashes[i];
		int			at = i;

		for (; at > 0 && hashes[at - 1] > hash; at--)
			hashes[at] = hashes[at - 1];
		hashes[at] = hash;
	}
}

/*
 * One pass of a sort, from one array to the other.  Returns false if there is nothing to
 * do: all have the same digit.
 */
static bool
sort_by_digit(const uint64 *hashes, uint64 *sorted, int n, int shift)
{
	int			starts[DIGITS] = {0};
	int			start = 0;

	for (int i = 0; i < n; i++)
		starts[(hashes[i] >> shift) % DIGITS]++;
	if (starts[(hashes[0] >> shift) % DIGITS] == n)
		return false;
	for (int digit = 0; digit < DIGITS; digit++)
	{
		int			count = starts[digit];

		starts[digit] = start;
		start += count;
	}
	for (int i = 0; i < n; i++)
		sorted[starts[(hashes[i] >> shift) % DIGITS]++] = hashes[i];
	return true;
}

/*
 * Sort as unsigned numbers.  Digit by digit that is linear whatever the hashes are:
 * who writes a text may choose them, so that quicksort would be slow.
 */
static void
sort_hashes(uint64 *hashes, int n)
{
	uint64	   *from = hashes;
	uint64	   *to;
	uint64	   *other;

	if (n <= INSERTION_MAX)
	{
		sort_by_insertion(hashes, n);
		return;
	}
	to = other = make_hashes(n);
	for (int shift = 0; shift < 64; shift += DIGIT_BITS)
	{
		CHECK_FOR_INTERRUPTS();
		if (sort_by_digit(from, to, n, shift))
		{
			uint64	   *swap = from;

			from = to;
			to = swap;
		}
	}
	if (from != hashes)
		memcpy(hashes, from, n * sizeof(uint64));
	pfree(other);
}

/*
 * Sort the hashes, and keep each once, the smallest ones only.
 */
static void
tidy(Sketch *sketch)
{
	uint64	   *hashes = sketch->hashes;
	int			n = 0;

	sort_hashes(hashes, sketch->n);
	for (int i = 0; i < sketch->n && n < sketch->max_size; i++)
		if (n == 0 || hashes[i] != hashes[n - 1])
			hashes[n++] = hashes[i];
	sketch->n = n;
	if (n == sketch->max_size)
		sketch->greatest = hashes[n - 1];
}

/*
 * There is no more room.  Returns false if more than SKETCH_MAX have to be kept.
 */
bool
sketch_enlarge(Sketch *sketch)
{
	uint64	   *larger;

	tidy(sketch);
	if (sketch->n <= sketch->capacity / 2)
		return true;
	if (sketch->n > SKETCH_MAX)
		return false;
	sketch->capacity *= 2;
	larger = make_hashes(sketch->capacity);
	memcpy(larger, sketch->hashes, sketch->n * sizeof(uint64));
	sketch_free(sketch);
	sketch->hashes = larger;
	return true;
}

/*
 * The set is complete.  Returns false if there are more than SKETCH_MAX.
 */
bool
sketch_finish(Sketch *sketch)
{
	tidy(sketch);
	return sketch->n <= SKETCH_MAX;
}

/*
 * Write the elements of a sketch that is complete, as signed numbers, in their order:
 * those with the highest bit come first.
 */
void
sketch_write(const Sketch *sketch, int64 *elements)
{
	int			low = 0;
	int			high = sketch->n;

	/* how many have not the highest bit */
	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (sketch->hashes[middle] >> 63)
			high = middle;
		else
			low = middle + 1;
	}
	memcpy(elements, sketch->hashes + low, (sketch->n - low) * sizeof(int64));
	memcpy(elements + sketch->n - low, sketch->hashes, low * sizeof(int64));
}
