/*
 * Sorts entries by hash value and key, or references to entries by a number
 *
 * lib/sort_template.h alone takes twice the time for 200,000 entries, and six times for as
 * many references.
 *
 * Entries are sorted by an in-place radix sort, the most significant bits first (McIlroy,
 * Bostic and McIlroy, "Engineering radix sort", 1993, "American flag sort").  A digit puts
 * entries into buckets.  Bits that are the same in a whole bucket are skipped.  Small
 * buckets are sorted by comparisons.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "port/pg_bitutils.h"

#include "join/store/entries.h"

/* Buckets of up to this many entries are sorted by comparisons. */
#define FEW_ENTRIES			16

/* Maximum number of bits of a digit. */
#define SORT_DIGIT_BITS		8
#define SORT_DIGIT_VALUES	(1 << SORT_DIGIT_BITS)

/*
 * Compare two entries by hash value, then by key.
 */
static inline int
compare_entries(const JoinEntry *a, const JoinEntry *b)
{
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a->key > b->key) - (a->key < b->key);
}

#define ST_SORT				sort_few
#define ST_ELEMENT_TYPE		JoinEntry
#define ST_COMPARE(a, b)	compare_entries(a, b)
#define ST_SCOPE			static
#define ST_DEFINE
#include "lib/sort_template.h"

/* References are sorted by digits of this many bits of their upper half. */
#define REF_DIGIT_BITS		11
#define REF_DIGIT_VALUES	(1 << REF_DIGIT_BITS)

/* Up to this many references are sorted by comparisons. */
#define FEW_REFS			512

#define ST_SORT				sort_few_refs
#define ST_ELEMENT_TYPE		uint64
#define ST_COMPARE(a, b)	((*(a) > *(b)) - (*(a) < *(b)))
#define ST_SCOPE			static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * A digit of the sort key: some bits of the hash value or of the key.
 */
typedef struct SortDigit
{
	bool		of_hash;
	int			shift;
	uint32		nvalues;		/* a power of 2 */
} SortDigit;

static inline uint32
value_of(const SortDigit *digit, const JoinEntry *entry)
{
	uint64		key = digit->of_hash ? entry->hash : entry->key;

	return key >> digit->shift & (digit->nvalues - 1);
}

/*
 * Find the most significant digit that is not the same in all of n entries.  The digit is
 * chosen so that each bucket has few entries.  Returns false if all entries are equal.
 */
static bool
find_digit(const JoinEntry *entry, uint32 n, SortDigit *digit)
{
	uint64		varying_hash = 0;
	uint64		varying_key = 0;
	uint64		varying;
	int			nbits = Min(pg_leftmost_one_pos32(n) - 1, SORT_DIGIT_BITS);

	for (uint32 i = 1; i < n; i++)
	{
		varying_hash |= entry[i].hash ^ entry[0].hash;
		varying_key |= entry[i].key ^ entry[0].key;
	}
	digit->of_hash = varying_hash != 0;
	varying = digit->of_hash ? varying_hash : varying_key;
	if (varying == 0)
		return false;
	digit->shift = Max(pg_leftmost_one_pos64(varying) + 1 - nbits, 0);
	digit->nvalues = 1 << nbits;
	return true;
}

/*
 * Sort n entries.  Checks for interrupts.
 */
void
join_sort(JoinEntry *entry, uint32 n)
{
	SortDigit	digit;
	uint32		next[SORT_DIGIT_VALUES];	/* next free element of each bucket */
	uint32		end[SORT_DIGIT_VALUES];	/* end of each bucket (exclusive) */
	uint32		start = 0;

	CHECK_FOR_INTERRUPTS();
	if (n <= FEW_ENTRIES)
	{
		sort_few(entry, n);
		return;
	}
	if (!find_digit(entry, n, &digit))
		return;
	memset(next, 0, digit.nvalues * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
		next[value_of(&digit, &entry[i])]++;
	for (uint32 bucket = 0; bucket < digit.nvalues; bucket++)
	{
		end[bucket] = start + next[bucket];
		next[bucket] = start;
		start = end[bucket];
	}

	for (uint32 bucket = 0; bucket < digit.nvalues; bucket++)
	{
		while (next[bucket] < end[bucket])
		{
			JoinEntry	moved = entry[next[bucket]];
			uint32		target;

			CHECK_FOR_INTERRUPTS();
			while ((target = value_of(&digit, &moved)) != bucket)
			{
				JoinEntry	other = entry[next[target]];

				entry[next[target]++] = moved;
				moved = other;
			}
			entry[next[bucket]++] = moved;
		}
	}

	start = 0;
	for (uint32 bucket = 0; bucket < digit.nvalues; bucket++)
	{
		if (end[bucket] - start > 1)
			join_sort(entry + start, end[bucket] - start);
		start = end[bucket];
	}
}

/*
 * Sort references by one digit into another array.  The sort is stable.  Checks for
 * interrupts.
 */
static void
sort_refs_by_digit(const uint64 *ref, uint64 *sorted, uint32 n, int shift)
{
	uint32		next[REF_DIGIT_VALUES] = {0};
	uint32		start = 0;

	for (uint32 i = 0; i < n; i++)
		next[ref[i] >> shift & (REF_DIGIT_VALUES - 1)]++;
	for (int digit = 0; digit < REF_DIGIT_VALUES; digit++)
	{
		uint32		count = next[digit];

		next[digit] = start;
		start += count;
	}
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		sorted[next[ref[i] >> shift & (REF_DIGIT_VALUES - 1)]++] = ref[i];
	}
}

/*
 * Allocate the references to the entries of two inputs, which the caller has set.  Returns
 * the scratch space for sorting them.
 */
uint64 *
entry_refs_begin(EntryRefs *left, EntryRefs *right, MemoryContext context)
{
	/* sorting exchanges the arrays, so each has space for either side */
	Size		size = Max(left->entries->n, right->entries->n) * sizeof(uint64);

	left->ref = MemoryContextAllocHuge(context, size);
	right->ref = MemoryContextAllocHuge(context, size);
	left->n = left->first = left->end = 0;
	right->n = right->first = right->end = 0;
	return MemoryContextAllocHuge(context, size);
}

/*
 * Sort references by their upper 32 bits.  The lower ones are indexes of entries, in
 * ascending order.  May exchange the array and the scratch space.
 */
void
entry_refs_sort(EntryRefs *refs, uint64 **scratch)
{
	if (refs->n <= FEW_REFS)
	{
		sort_few_refs(refs->ref, refs->n);
		return;
	}
	for (int shift = 32; shift < 64; shift += REF_DIGIT_BITS)
	{
		uint64	   *sorted = *scratch;

		sort_refs_by_digit(refs->ref, sorted, refs->n, shift);
		*scratch = refs->ref;
		refs->ref = sorted;
	}
}
