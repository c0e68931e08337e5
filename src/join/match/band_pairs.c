/*-------------------------------------------------------------------------
 *
 * band_pairs.c
 *		Pairs of entries of two inputs that share the key of a band
 *
 * Each entry has one key for each band of its signature (by_band.c).  For one band
 * after the other, both inputs are sorted by the key of this band, and merged.  A pair may
 * share several keys.  It is returned for the first of them only.  The keys of the two
 * entries decide that, so no set of pairs is needed.
 *
 * Keys are hash values.  So the caller must test whether the signatures share a band.  A
 * pair that shares a band shares its key, so it is returned.
 *
 * Nearly all signatures have the same parameters.  Entries with other parameters have no
 * keys.  They are paired with all entries of the same equality keys, as in a nested loop.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "join/match/band_pairs.h"

/* The sort goes through the keys by digits of this many bits. */
#define KEY_DIGIT_BITS		11
#define KEY_DIGIT_VALUES	(1 << KEY_DIGIT_BITS)

/* Up to this many entries are sorted by comparisons. */
#define FEW_REFS			512

/* Entries are prefetched at this distance in the sorted order. */
#define PREFETCH_DISTANCE	16

#define ST_SORT				sort_few_refs
#define ST_ELEMENT_TYPE		uint64
#define ST_COMPARE(a, b)	((*(a) > *(b)) - (*(a) < *(b)))
#define ST_SCOPE			static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Return the entry that is at a position of the sorted order.
 */
static inline JoinEntry *
entry_at(const BandSide *side, uint32 position)
{
	return join_entries_at(side->entries, (uint32) side->ref[position]);
}

/* --- sorting --------------------------------------------------------------------- */

/*
 * Sort an array by one digit of the keys into another array.  The sort is stable.  Checks
 * for interrupts.
 */
static void
sort_refs_by_digit(const uint64 *ref, uint64 *sorted, uint32 n, int shift)
{
	uint32		next[KEY_DIGIT_VALUES] = {0};
	uint32		start = 0;

	for (uint32 i = 0; i < n; i++)
		next[ref[i] >> shift & (KEY_DIGIT_VALUES - 1)]++;
	for (int digit = 0; digit < KEY_DIGIT_VALUES; digit++)
	{
		uint32		count = next[digit];

		next[digit] = start;
		start += count;
	}
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		sorted[next[ref[i] >> shift & (KEY_DIGIT_VALUES - 1)]++] = ref[i];
	}
}

/*
 * Sort a side by the keys, the upper 32 bits of ref[].
 */
static void
sort_side(JoinBands *bands, BandSide *side)
{
	if (side->n <= FEW_REFS)
	{
		sort_few_refs(side->ref, side->n);
		return;
	}
	for (int shift = 32; shift < 64; shift += KEY_DIGIT_BITS)
	{
		uint64	   *sorted = bands->scratch;

		sort_refs_by_digit(side->ref, sorted, side->n, shift);
		bands->scratch = side->ref;
		side->ref = sorted;
	}
}

/*
 * Sort the entries of a side by their keys of the current band.  For the pairs with other
 * parameters, the last bit of a key is 0 if the entry has other parameters.  So these
 * entries come first.
 */
static void
sort_by_band(JoinBands *bands, BandSide *side)
{
	side->n = side->first = side->end = 0;
	for (uint32 i = 0; i < side->entries->n; i++)
	{
		const JoinEntry *entry = join_entries_at(side->entries, i);
		uint32		key = join_bands_key(bands, entry, bands->band);
		bool		is_other = join_bands_is_other(bands, entry);

		CHECK_FOR_INTERRUPTS();
		if (bands->band == bands->nbands)
			key = (key & ~1) | !is_other;
		else if (is_other)
			continue;
		side->ref[side->n++] = (uint64) key << 32 | i;
	}
	sort_side(bands, side);
}

/*
 * Start with the current band.
 */
static void
begin_band(JoinBands *bands)
{
	sort_by_band(bands, &bands->left);
	sort_by_band(bands, &bands->right);
	bands->next_left = bands->next_right = 0;
}

/*
 * Start to pair the loaded entries of two inputs, by the bands from first_band up to
 * end_band (exclusive).  The number of bands stands for the pairs with other parameters.
 * Frees the memory that the previous call allocated.
 */
void
join_bands_begin(JoinBands *bands, const JoinEntries *left, const JoinEntries *right,
				 const uint8 *done, int first_band, int end_band)
{
	Size		max = Max(left->n, right->n);
	MemoryContext old;

	MemoryContextReset(bands->context);
	old = MemoryContextSwitchTo(bands->context);
	bands->left.entries = left;
	bands->right.entries = right;
	/* sorting exchanges the arrays, so each has space for either side */
	bands->left.ref = palloc_extended(max * sizeof(uint64), MCXT_ALLOC_HUGE);
	bands->right.ref = palloc_extended(max * sizeof(uint64), MCXT_ALLOC_HUGE);
	bands->scratch = palloc_extended(max * sizeof(uint64), MCXT_ALLOC_HUGE);
	MemoryContextSwitchTo(old);
	bands->done = done;
	bands->band = first_band;
	bands->end_band = end_band;
	begin_band(bands);
}

/* --- pairs ----------------------------------------------------------------------- */

/*
 * Return the key at a position of the sorted order.
 */
static inline uint32
key_at(const JoinBands *bands, const BandSide *side, uint32 position)
{
	uint32		key = side->ref[position] >> 32;

	return bands->band < bands->nbands ? key : key & ~1;
}

/*
 * Set the end of the entries with the current key, which begin at side->first.  Prefetches
 * entries.
 */
static void
find_end(const JoinBands *bands, BandSide *side)
{
	uint32		key = key_at(bands, side, side->first);

	side->end = side->first;
	do
	{
		if (side->n - side->end > PREFETCH_DISTANCE)
			pg_prefetch(join_band_keys(entry_at(side, side->end + PREFETCH_DISTANCE)));
		side->end++;
	} while (side->end < side->n && key_at(bands, side, side->end) == key);
}

/*
 * Advance to the next key that entries of both sides have.  Returns false if the current
 * band has no more.
 */
static bool
next_key(JoinBands *bands)
{
	BandSide   *left = &bands->left;
	BandSide   *right = &bands->right;

	left->first = left->end;
	right->first = right->end;
	for (;;)
	{
		uint32		left_key;
		uint32		right_key;

		CHECK_FOR_INTERRUPTS();
		if (left->first == left->n || right->first == right->n)
			return false;
		left_key = key_at(bands, left, left->first);
		right_key = key_at(bands, right, right->first);
		if (left_key == right_key)
			break;
		if (left_key < right_key)
			left->first++;
		else
			right->first++;
	}
	find_end(bands, left);
	find_end(bands, right);
	bands->next_left = left->first;
	bands->next_right = bands->right_other = right->first;
	if (bands->band == bands->nbands)
		while (bands->right_other < right->end && !(right->ref[bands->right_other] >> 32 & 1))
			bands->right_other++;
	return true;
}

/*
 * Return true if two entries that share the key of the current band share no key of an
 * earlier band.
 */
static inline bool
is_first_band(const JoinBands *bands, const JoinEntry *left, const JoinEntry *right)
{
	const uint32 *left_key = join_band_keys(left);
	const uint32 *right_key = join_band_keys(right);

	if (bands->band == bands->nbands)
		return true;
	for (int i = 0; i < bands->band; i++)
		if (left_key[i] == right_key[i])
			return false;
	return true;
}

/*
 * Advance to the next pair of entries.  Returns false at the end, however often it is
 * called there.  Skips left entries that need no more matches.
 */
bool
join_bands_next(JoinBands *bands, JoinEntry **left, JoinEntry **right)
{
	while (bands->band < bands->end_band)
	{
		for (; bands->next_left < bands->left.end;
			 bands->next_left++, bands->next_right = bands->right.first)
		{
			uint32		end = bands->right.end;

			*left = entry_at(&bands->left, bands->next_left);
			if (bands->done && join_bitmap_has(bands->done, (*left)->row))
				continue;
			if (bands->band == bands->nbands && !join_bands_is_other(bands, *left))
				end = bands->right_other;
			while (bands->next_right < end)
			{
				*right = entry_at(&bands->right, bands->next_right++);
				CHECK_FOR_INTERRUPTS();
				bands->ncompared++;
				if (is_first_band(bands, *left, *right))
					return true;
			}
		}
		while (!next_key(bands))
		{
			if (++bands->band == bands->end_band)
				return false;
			begin_band(bands);
		}
	}
	return false;
}
