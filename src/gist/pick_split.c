/*
 * Union, penalty, page split and sort order of keys
 *
 * Both operator classes use these functions.  A key of balls begins with the key of the
 * centers, so it is treated like a key of fingerprints.
 *
 * In a table of N rows, a leaf of n entries agrees on about log2(N / n) bits.  That is 12
 * for a million rows.  A search within 3 bits visits the leaves that differ from the query
 * in at most 3 of these bits, a fraction of (1 + 12 + 66 + 220) / 4096 = 7%.
 *
 * Order.  Entries are sorted by prefix, in the order of the Gray code, where neighbors
 * differ in one bit.  In the order of numbers, 0111... and 1000... would be neighbors,
 * which have no bit in common.
 *
 * Split.  The entries of a page are cut in this order (choose_cut).  For uniform fingerprints,
 * the cut is at the next bit of the prefix, for clustered ones at the bits in which they vary.
 *
 * Penalty.  Of two keys that would lose equally many bits, the one with more remaining bits has
 * the lower penalty.  Otherwise, in a multicolumn index, a page with rows of many tenants, which
 * agrees on no bits and has nothing to lose, would receive rows of a tenant that has pages of
 * its own.
 *
 * Columns.  GiST compares the next column only where the first does not decide.  With
 * (tenant, fp), the rows of a tenant are on the same pages, and log2(n / 200) bits of the
 * fingerprint count for n rows of the tenant.  With (fp, tenant), a search for a tenant
 * visits everything.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "utils/sortsupport.h"

#include "bits.h"
#include "compat.h"
#include "gist/union_key.h"

/*
 * Minimum number of entries on each side of a split, in tenths of all entries.
 */
#define MIN_SIDE_TENTHS	3

/*
 * Return the position of a fingerprint in the order of the Gray code.  Neighbors in this
 * order differ in one bit.
 */
static uint64
gray_rank(SimHash fp)
{
	for (int shift = 1; shift < SIMHASH_BITS; shift *= 2)
		fp ^= fp >> shift;
	return fp;
}

/* --- union ---------------------------------------------------------------------- */

static inline const UnionKey *
entry_key(const GistEntryVector *entries, OffsetNumber offset)
{
	return DatumGetUnionKeyP(entries->vector[offset].key);
}

/*
 * Return the union of the keys at offsets[0..n-1].  If offsets is NULL, return the union
 * of the first n keys of the vector.  `size` is the size of a key in bytes.
 */
static Datum
unite_entries(const GistEntryVector *entries, const OffsetNumber *offsets, int n, Size size,
			  UniteKeys unite)
{
	UnionKey   *key = palloc(size);

	memcpy(key, entry_key(entries, offsets ? offsets[0] : 0), size);
	for (int i = 1; i < n; i++)
		unite(key, entry_key(entries, offsets ? offsets[i] : i));
	return PointerGetDatum(key);
}

/*
 * Support function "union" of both operator classes.  Returns the union of all keys of the
 * vector.  Sets the output argument to the size of the union, `size` bytes.
 */
Datum
keys_union(FunctionCallInfo fcinfo, Size size, UniteKeys unite)
{
	const GistEntryVector *entries = (GistEntryVector *) PG_GETARG_POINTER(0);

	*(int *) PG_GETARG_POINTER(1) = size;
	return unite_entries(entries, NULL, entries->n, size, unite);
}

/* --- penalty ------------------------------------------------------------------- */

/*
 * Return the penalty of adding another key to a key.  It is the number of bits that the
 * key loses, plus a fraction of at most 1/2.  The fraction is higher if fewer bits remain.
 * So it decides between keys that lose equally many bits.
 */
float
union_key_penalty(const UnionKey *key, const UnionKey *other)
{
	uint64		lost = union_key_lost(key, other);
	int			left = pg_popcount64(key->mask & ~lost);

	return pg_popcount64(lost) + (float) (SIMHASH_BITS - left) / (2 * SIMHASH_BITS);
}

/* --- splitting a page ---------------------------------------------------------- */

/* An entry and its sort key. */
typedef struct Ranked
{
	uint64		rank;			/* position in the order of the Gray code; must be first */
	OffsetNumber offset;		/* index in the vector of entries */
} Ranked;

/*
 * Return an array of the n entries of a vector, sorted by rank.  The first entry of the
 * vector is at FirstOffsetNumber.
 */
static Ranked *
rank_entries(const GistEntryVector *entries, int n)
{
	Ranked	   *ranked = palloc(n * sizeof(Ranked));

	for (int i = 0; i < n; i++)
	{
		ranked[i].offset = FirstOffsetNumber + i;
		ranked[i].rank = gray_rank(entry_key(entries, ranked[i].offset)->value);
	}
	qsort(ranked, n, sizeof(Ranked), bits_compare);
	return ranked;
}

/*
 * Choose where to cut n sorted entries.  Returns the number of entries on the left side.
 *
 * The best cut has the largest sum of the agreed bits of both sides, with the number of
 * entries of each side as its weight.  Of equally good cuts, chooses the one nearest to
 * the middle.
 */
static int
choose_cut(const GistEntryVector *entries, const Ranked *ranked, int n)
{
	int		   *right_bits = palloc(n * sizeof(int));
	int			min_side = Max(1, n * MIN_SIDE_TENTHS / 10);
	int			cut = n / 2;
	int			best = -1;
	UnionKey	side;

	side = *entry_key(entries, ranked[n - 1].offset);
	for (int i = n - 1; i >= min_side; i--)
	{
		union_key_unite(&side, entry_key(entries, ranked[i].offset));
		right_bits[i] = pg_popcount64(side.mask);
	}
	side = *entry_key(entries, ranked[0].offset);
	for (int i = 1; i <= n - min_side; i++)
	{
		int			bits;

		union_key_unite(&side, entry_key(entries, ranked[i - 1].offset));
		if (i < min_side)
			continue;
		bits = i * pg_popcount64(side.mask) + (n - i) * right_bits[i];
		if (bits > best || (bits == best && abs(2 * i - n) < abs(2 * cut - n)))
		{
			best = bits;
			cut = i;
		}
	}
	pfree(right_bits);
	return cut;
}

/*
 * Support function "picksplit" of both operator classes.  Distributes the entries to two
 * sides, and computes the key of each side.  GiST passes at least two entries.  The first
 * element of the vector is unused.
 */
Datum
keys_picksplit(FunctionCallInfo fcinfo, Size size, UniteKeys unite)
{
	const GistEntryVector *entries = (GistEntryVector *) PG_GETARG_POINTER(0);
	GIST_SPLITVEC *split = (GIST_SPLITVEC *) PG_GETARG_POINTER(1);
	int			n = entries->n - 1;
	Ranked	   *ranked = rank_entries(entries, n);
	int			cut = choose_cut(entries, ranked, n);

	/*
	 * Allocate each side for all entries.  In a multicolumn index, GiST may move entries
	 * to the other side.
	 */
	split->spl_left = palloc((n + 1) * sizeof(OffsetNumber));
	split->spl_right = palloc((n + 1) * sizeof(OffsetNumber));
	split->spl_nleft = cut;
	split->spl_nright = n - cut;
	for (int i = 0; i < cut; i++)
		split->spl_left[i] = ranked[i].offset;
	for (int i = cut; i < n; i++)
		split->spl_right[i - cut] = ranked[i].offset;
	split->spl_ldatum = unite_entries(entries, split->spl_left, cut, size, unite);
	split->spl_rdatum = unite_entries(entries, split->spl_right, n - cut, size, unite);
	pfree(ranked);
	PG_RETURN_POINTER(split);
}

/* --- sorting for a build -------------------------------------------------------- */

/*
 * Compare two leaf keys by rank, for SortSupport.
 */
static int
compare_keys(Datum x, Datum y, SortSupport ssup)
{
	uint64		a = gray_rank(DatumGetUnionKeyP(x)->value);
	uint64		b = gray_rank(DatumGetUnionKeyP(y)->value);

	return (a > b) - (a < b);
}

#if SIZEOF_DATUM >= 8
/* Return the rank as the abbreviated key. */
static Datum
abbreviate(Datum original, SortSupport ssup)
{
	return (Datum) gray_rank(DatumGetUnionKeyP(original)->value);
}

/* Return false: never abort abbreviation, because the abbreviated key is the sort key. */
static bool
never_abort(int memtupcount, SortSupport ssup)
{
	return false;
}
#endif

/*
 * Support function "sortsupport" of both operator classes.  An index build sorts leaf keys
 * with it.
 */
PG_FUNCTION_INFO_V1(simhash_gist_sortsupport);
Datum
simhash_gist_sortsupport(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

	ssup->comparator = compare_keys;
#if SIZEOF_DATUM >= 8
	if (ssup->abbreviate)
	{
		ssup->comparator = ssup_datum_unsigned_cmp;
		ssup->abbrev_converter = abbreviate;
		ssup->abbrev_abort = never_abort;
		ssup->abbrev_full_comparator = compare_keys;
	}
#endif
	PG_RETURN_VOID();
}
