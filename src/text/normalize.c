/*
 * Unicode normalization of a text, one code point after the other
 *
 * The normal form is toNFKC_Casefold(NFD(X)) (The Unicode Standard, 3.13, D147) of the
 * text without its default-ignorable code points.  Case, width and compatibility forms
 * are folded, soft hyphens and zero-width characters vanish, and canonically equivalent
 * texts become equal.
 *
 * All tables are of one Unicode version, forever, since a fingerprint is stored data.
 * The server's own tables change with each release, as the operating system's do
 * (unicode_normalize() orders the marks of Unicode 15 on PostgreSQL 16 but not on 15).
 * Ordering and composition follow UAX #15 and section 3.11 of the standard.
 *
 * This file needs no memory, no server and no locale.  test/unit compares it with ICU.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "text/normalize.h"
#include "text/unicode/tables.h"

/* Hangul syllables are composed by arithmetic: section 3.12 of the standard. */
#define HANGUL_SBASE	0xAC00
#define HANGUL_LBASE	0x1100
#define HANGUL_VBASE	0x1161
#define HANGUL_TBASE	0x11A7
#define HANGUL_LCOUNT	19
#define HANGUL_VCOUNT	21
#define HANGUL_TCOUNT	28
#define HANGUL_SCOUNT	(HANGUL_LCOUNT * HANGUL_VCOUNT * HANGUL_TCOUNT)

/* The only non-starter that case folding turns into a starter (D147). */
#define COMBINING_YPOGEGRAMMENI	0x0345
#define SMALL_IOTA				0x03B9

/* A smaller value in the table is the token class of a code point that maps to itself. */
#define FIRST_RECORD	8

/*
 * Return the value of a code point in the two-stage table: its token class, or
 * FIRST_RECORD plus the number of its record.
 */
static inline uint16
unicode_lookup(uint32 cp)
{
	return unicode_value[unicode_page[cp >> 7] * 128 + (cp & 127)];
}

static inline const UnicodeRecord *
unicode_lookup_record(uint16 value)
{
	return &unicode_record[value - FIRST_RECORD];
}

/*
 * Return a code point as NORMALIZED, with its token class.
 */
static inline uint32
with_class(uint32 cp)
{
	uint16		value = unicode_lookup(cp);

	return NORMALIZED(cp, value < FIRST_RECORD ? value :
					  unicode_lookup_record(value)->class);
}

/*
 * Return the primary composite of two code points, or 0.
 */
static uint32
compose_pair(uint32 first, uint32 second)
{
	int			low = 0;
	int			high = UNICODE_NCOMPOSITIONS - 1;

	if (first - HANGUL_LBASE < HANGUL_LCOUNT &&
		second - HANGUL_VBASE < HANGUL_VCOUNT)
		return HANGUL_SBASE + ((first - HANGUL_LBASE) * HANGUL_VCOUNT +
							   second - HANGUL_VBASE) * HANGUL_TCOUNT;
	if (first - HANGUL_SBASE < HANGUL_SCOUNT &&
		(first - HANGUL_SBASE) % HANGUL_TCOUNT == 0 &&
		second - (HANGUL_TBASE + 1) < HANGUL_TCOUNT - 1)
		return first + (second - HANGUL_TBASE);

	while (low <= high)
	{
		int			mid = (low + high) / 2;
		const UnicodeComposition *entry = &unicode_composition[mid];

		if (entry->first == first && entry->second == second)
			return entry->composite;
		if (entry->first < first ||
			(entry->first == first && entry->second < second))
			low = mid + 1;
		else
			high = mid - 1;
	}
	return 0;
}

/*
 * Return the canonical decomposition of a code point that maps to itself, or NULL if it
 * has none.  Returns NULL for Hangul syllables, too, since no later code point can reorder
 * their parts.
 */
static const UnicodeDecomposition *
find_decomposition(uint32 cp)
{
	int			low = 0;
	int			high = UNICODE_NDECOMPOSITIONS - 1;

	while (low <= high)
	{
		int			mid = (low + high) / 2;
		const UnicodeDecomposition *entry = &unicode_decomposition[mid];

		if (entry->codepoint == cp)
			return entry;
		if (entry->codepoint < cp)
			low = mid + 1;
		else
			high = mid - 1;
	}
	return NULL;
}

/*
 * Write the canonical composition of the run (D117) to out, with token classes, and return
 * its length.  Leaves the run empty.  The U+0345 after the run become letters now, after
 * ordering.  No letter composes with them.
 */
static size_t
settle_run(Normalizer *norm, uint32 *out)
{
	size_t		n = 0;
	int			starter = -1;	/* position in out of the last starter */
	uint8		last_ccc = 0;	/* combining class of the last code point in out */

	for (int i = 0; i < norm->nrun; i++)
	{
		uint32		cp = norm->run[i];
		uint8		ccc = norm->ccc[i];

		/* not blocked: adjacent to the starter, or of a higher class */
		if (starter >= 0 && ((size_t) starter + 1 == n || last_ccc < ccc))
		{
			uint32		composite = compose_pair(out[starter], cp);

			if (composite != 0)
			{
				out[starter] = composite;
				continue;
			}
		}
		if (ccc == 0)
			starter = n;
		last_ccc = ccc;
		out[n++] = cp;
	}
	for (int i = 0; i < norm->niotas; i++)
		out[n++] = SMALL_IOTA;
	for (size_t i = 0; i < n; i++)
		out[i] = with_class(out[i]);
	norm->nrun = norm->nmarks = norm->niotas = 0;
	return n;
}

/*
 * Write the pending code points to out and return their number.  The caller must know that
 * no later code point can change them.
 */
static inline size_t
settle(Normalizer *norm, uint32 *out)
{
	if (norm->starter != NORMALIZE_NOTHING)
	{
		out[0] = norm->starter;
		norm->starter = NORMALIZE_NOTHING;
		return 1;
	}
	return norm->nrun + norm->niotas > 0 ? settle_run(norm, out) : 0;
}

/*
 * Append a code point with its combining class to the run.
 */
static inline void
run_append(Normalizer *norm, uint32 cp, uint8 ccc)
{
	norm->run[norm->nrun] = cp;
	norm->ccc[norm->nrun] = ccc;
	norm->nrun++;
	norm->nmarks += (ccc != 0);
}

/*
 * Replace the pending starter by a run with its decomposition, so that later marks can be
 * ordered among the marks of the starter.
 */
static void
decompose_starter(Normalizer *norm)
{
	uint32		cp = NORMALIZED_CODEPOINT(norm->starter);
	const UnicodeDecomposition *entry = find_decomposition(cp);

	norm->starter = NORMALIZE_NOTHING;
	if (entry == NULL)
	{
		run_append(norm, cp, 0);
		return;
	}
	for (int i = 0; i < entry->length; i++)
	{
		uint32		part = unicode_mapping[entry->offset + i];
		uint16		value = unicode_lookup(part);

		run_append(norm, part, value < FIRST_RECORD ? 0 :
				   unicode_lookup_record(value)->ccc);
	}
}

/*
 * Add a non-starter to the run, in canonical order (D109).  It goes after all marks of the
 * same or a lower class that follow the last starter.  If there are too many marks, the
 * last one in this order is dropped.
 */
static void
push_mark(Normalizer *norm, uint32 cp, uint8 ccc)
{
	int			at;

	if (norm->starter != NORMALIZE_NOTHING)
		decompose_starter(norm);
	if (cp == COMBINING_YPOGEGRAMMENI)
	{
		if (norm->niotas < NORMALIZE_MAX_MARKS)
			norm->niotas++;
		return;
	}
	if (norm->nmarks == NORMALIZE_MAX_MARKS)
	{
		if (norm->ccc[norm->nrun - 1] <= ccc)
			return;
		norm->nrun--;
		norm->nmarks--;
	}
	for (at = norm->nrun; at > 0 && norm->ccc[at - 1] > ccc; at--)
	{
		norm->run[at] = norm->run[at - 1];
		norm->ccc[at] = norm->ccc[at - 1];
	}
	norm->run[at] = cp;
	norm->ccc[at] = ccc;
	norm->nrun++;
	norm->nmarks++;
}

/*
 * Add a starter that may compose with the starter just before it: Hangul vowels and
 * finals, the second parts of Indic vowels.  Returns the number of code points written to
 * out.
 */
static size_t
push_combining_starter(Normalizer *norm, uint32 cp, uint32 *out)
{
	size_t		n = settle(norm, out);

	if (n == 1)
	{
		uint32		composite = compose_pair(NORMALIZED_CODEPOINT(out[0]), cp);

		if (composite != 0)
		{
			norm->starter = with_class(composite);
			return 0;
		}
	}
	run_append(norm, cp, 0);
	return n;
}

/*
 * Add one code point of a mapping, which is folded and decomposed.  Returns the number of
 * code points written to out.
 */
static size_t
push_mapped(Normalizer *norm, uint32 cp, uint32 *out)
{
	uint16		value = unicode_lookup(cp);
	const UnicodeRecord *record;

	if (value < FIRST_RECORD)
	{
		size_t		n = settle(norm, out);

		norm->starter = NORMALIZED(cp, value);
		return n;
	}
	record = unicode_lookup_record(value);
	if (record->ccc == 0)
		return push_combining_starter(norm, cp, out);
	push_mark(norm, cp, record->ccc);
	return 0;
}

/*
 * Add a code point that has a record, because it has a mapping or may combine with the
 * code points before it.  Returns the number of code points written to out.
 */
static size_t
push_record(Normalizer *norm, uint32 cp, const UnicodeRecord *record, uint32 *out)
{
	size_t		n = 0;

	if (record->length == 0)
		return 0;				/* default-ignorable code point */

	/*
	 * A starter ends the reordering of what precedes it, even if it folds to a mark
	 * (U+FF9E does).  So U+0345 must become a letter now.  A code point that decomposes
	 * into marks only (U+0F73 does) does not end it: those marks are still ordered before
	 * U+0345.
	 */
	if (norm->niotas > 0 && !record->combines)
	{
		n = settle_run(norm, out) - 1;
		norm->starter = out[n];
	}
	if (record->length == UNICODE_SELF)
		return n + push_mapped(norm, cp, out + n);
	for (int i = 0; i < record->length; i++)
		n += push_mapped(norm, unicode_mapping[record->offset + i], out + n);
	return n;
}

/*
 * Initialize a normalizer for a text.
 */
void
normalizer_init(Normalizer *norm)
{
	norm->starter = NORMALIZE_NOTHING;
	norm->nrun = norm->nmarks = norm->niotas = 0;
}

/*
 * Push the next n code points of the text, any values up to U+10FFFF.  Writes to out the
 * normalized code points (as NORMALIZED) that no later code point can change, and returns
 * their number.  out must have a capacity of NORMALIZE_MAX_OUT(n).  It makes no difference
 * how the text is divided among the calls.
 */
size_t
normalize_push(Normalizer *norm, const uint32 *codepoints, size_t n, uint32 *out)
{
	uint32	   *start = out;

	for (size_t i = 0; i < n; i++)
	{
		uint32		cp = codepoints[i];
		uint16		value = unicode_lookup(cp);

		if (value < FIRST_RECORD)
		{
			out += settle(norm, out);
			norm->starter = NORMALIZED(cp, value);
		}
		else
			out += push_record(norm, cp, unicode_lookup_record(value), out);
	}
	return out - start;
}

/*
 * End the text.  Writes the pending code points, at most NORMALIZE_MAX_PENDING, to out,
 * and returns their number.  Leaves the normalizer as normalizer_init() does.
 */
size_t
normalize_flush(Normalizer *norm, uint32 *out)
{
	return settle(norm, out);
}
