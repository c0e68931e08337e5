/*
 * A template of a radix sort, for keys of up to 128 bits
 *
 * The sort is in place, the most significant bits first (McIlroy, Bostic and McIlroy, "Engineering
 * radix sort", 1993, "American flag sort").  A digit puts elements into buckets.  Bits that are the
 * same in a whole bucket are skipped.  Small buckets are sorted by insertion.  So the time is linear
 * in the number of elements, whatever the keys are.  Keys can be chosen that make
 * lib/sort_template.h slow, but not this sort.
 *
 * Define these macros, then include this file.  It undefines them.
 *
 *		RS_SORT			name of the function, void RS_SORT(RS_ELEMENT_TYPE *, size_t)
 *		RS_SCOPE		static or extern
 *		RS_ELEMENT_TYPE	type of the elements
 *		RS_HIGH(a)		upper bits of the key of the element that a points to, unsigned
 *		RS_LOW(a)		lower bits of the key, at most 64
 *
 * The function checks for interrupts.
 *
 * Copyright (c) 2026, the simhash authors
 */

#ifndef SIMHASH_RADIX_SORT_H
#define SIMHASH_RADIX_SORT_H

#include "port/pg_bitutils.h"

/* Buckets of up to this many elements are sorted by insertion. */
#define RADIX_SORT_FEW		16

/* Maximum number of bits of a digit. */
#define RADIX_SORT_BITS		9

#endif							/* SIMHASH_RADIX_SORT_H */

/* True if the key of a is greater than that of b. */
#define RS_GREATER(a, b) \
	(RS_HIGH(a) > RS_HIGH(b) || (RS_HIGH(a) == RS_HIGH(b) && RS_LOW(a) > RS_LOW(b)))

/* The digit of an element. */
#define RS_DIGIT(a) \
	(((is_low ? RS_LOW(a) : RS_HIGH(a)) >> shift) & (nvalues - 1))

/*
 * Sort n elements by their keys.
 */
RS_SCOPE void
RS_SORT(RS_ELEMENT_TYPE *elements, size_t n)
{
	size_t		next[1 << RADIX_SORT_BITS]; /* next free element of each bucket */
	size_t		end[1 << RADIX_SORT_BITS];	/* end of each bucket (exclusive) */
	size_t		start = 0;
	uint64		varying = 0;
	bool		is_low;			/* true if the digit is of the lower bits */
	int			nbits;
	int			shift;
	uint32		nvalues;

	if (n <= RADIX_SORT_FEW)
	{
		for (size_t i = 1; i < n; i++)
		{
			RS_ELEMENT_TYPE moved = elements[i];
			size_t		target = i;

			for (; target > 0 && RS_GREATER(&elements[target - 1], &moved); target--)
				elements[target] = elements[target - 1];
			elements[target] = moved;
		}
		return;
	}

	/* find the most significant bit that is not the same in all keys */
	for (size_t i = 1; i < n; i++)
		varying |= RS_HIGH(&elements[i]) ^ RS_HIGH(&elements[0]);
	is_low = varying == 0;
	if (is_low)
		for (size_t i = 1; i < n; i++)
			varying |= RS_LOW(&elements[i]) ^ RS_LOW(&elements[0]);
	if (varying == 0)
		return;
	nbits = Min(pg_leftmost_one_pos64(n), RADIX_SORT_BITS);
	shift = Max(pg_leftmost_one_pos64(varying) + 1 - nbits, 0);
	nvalues = 1 << nbits;

	memset(next, 0, nvalues * sizeof(size_t));
	for (size_t i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		next[RS_DIGIT(&elements[i])]++;
	}
	for (uint32 bucket = 0; bucket < nvalues; bucket++)
	{
		end[bucket] = start + next[bucket];
		next[bucket] = start;
		start = end[bucket];
	}
	for (uint32 bucket = 0; bucket < nvalues; bucket++)
	{
		while (next[bucket] < end[bucket])
		{
			RS_ELEMENT_TYPE moved = elements[next[bucket]];
			uint32		target;

			CHECK_FOR_INTERRUPTS();
			while ((target = RS_DIGIT(&moved)) != bucket)
			{
				RS_ELEMENT_TYPE other = elements[next[target]];

				elements[next[target]++] = moved;
				moved = other;
			}
			elements[next[bucket]++] = moved;
		}
	}

	start = 0;
	for (uint32 bucket = 0; bucket < nvalues; bucket++)
	{
		if (end[bucket] - start > 1)
			RS_SORT(elements + start, end[bucket] - start);
		start = end[bucket];
	}
}

#undef RS_SORT
#undef RS_SCOPE
#undef RS_ELEMENT_TYPE
#undef RS_HIGH
#undef RS_LOW
#undef RS_GREATER
#undef RS_DIGIT
