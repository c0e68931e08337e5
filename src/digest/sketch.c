/*
 * A set of some of a text's hashes
 *
 * New hashes are appended to an array until it is full.  Then the array is sorted, and
 * duplicates are dropped.  If more than half of the array remains, its capacity is doubled.
 * So a hash is sorted a few times on average, and an allocated array has a capacity of less
 * than four times the number of distinct hashes.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "digest/sketch.h"

/* Number of bits that one pass of a sort uses. */
#define DIGIT_BITS		8
#define DIGITS			(1 << DIGIT_BITS)

/*
 * Maximum size of an array that is sorted by insertion.  Longer arrays are sorted by
 * digits.
 */
#define INSERTION_MAX	96

/*
 * Initialize an empty set.
 */
void
sketch_begin(Sketch *sketch)
{
	sketch->n = 0;
	sketch->capacity = SKETCH_INLINE;
	sketch->hashes = sketch->inline_hashes;
}

static uint64 *
make_hashes(int capacity)
{
	return palloc_extended(capacity * sizeof(uint64), MCXT_ALLOC_HUGE);
}

/*
 * Free the memory of a set.
 */
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
 * Sort hashes[0..n-1] by one digit into sorted[].  Returns false, and does nothing, if all
 * hashes have the same digit.
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
 * Sort hashes as unsigned numbers.  Sorting by digits takes linear time for any hashes.
 * Quicksort could be slow, because authors of texts can choose the hashes.  Checks for
 * interrupts.
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
 * Sort the hashes, and drop duplicates.
 */
static void
tidy(Sketch *sketch)
{
	uint64	   *hashes = sketch->hashes;
	int			n = 0;

	sort_hashes(hashes, sketch->n);
	for (int i = 0; i < sketch->n; i++)
		if (n == 0 || hashes[i] != hashes[n - 1])
			hashes[n++] = hashes[i];
	sketch->n = n;
}

/*
 * Make space in a full array, by dropping duplicates or by doubling the array.  Returns false
 * if more than SKETCH_MAX hashes have to be kept.
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
 * Complete the set.  Returns false if it has more than SKETCH_MAX hashes.
 */
bool
sketch_finish(Sketch *sketch)
{
	tidy(sketch);
	return sketch->n <= SKETCH_MAX;
}

/*
 * Write the elements of a complete set as signed numbers, in ascending order.  Hashes with
 * the highest bit set come first, since they are negative.
 */
void
sketch_write(const Sketch *sketch, int64 *elements)
{
	int			low = 0;
	int			high = sketch->n;

	/* search for the number of hashes without the highest bit */
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
