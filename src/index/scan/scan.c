/*
 * Index scans: the functions of the access method
 *
 * These functions choose one of three scans:
 *
 * - scan_hamming.c returns rows by the Hamming distance of their key.
 * - next_keys() returns rows that contain any of the query keys, or at least T of them.
 * - scan_overlap.c returns rows ranked by overlap with the query keys, which is the order of
 *	 containment distances and a lower bound of Jaccard distances.
 *
 * Each scan sets reader.tids to the TIDs to return next.  Rows that are NULL come last.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "access/relscan.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "index/access_method.h"
#include "index/opclass.h"
#include "index/scan/scans.h"

typedef enum ScanStage
{
	SCAN_HAMMING,
	SCAN_KEYS,
	SCAN_OVERLAP,
	SCAN_NULLS					/* rows that are NULL, after one of the other
								 * scans, or alone */
} ScanStage;

typedef struct SimHashScan
{
	const Opclass *opclass;
	LeafReader	reader;
	bool		started;		/* true if begin_scan() has been called for the
								 * current search */

	/* Which rows the scan keys may match. */
	bool		want_rows;		/* rows that are not NULL */
	bool		want_nulls;		/* rows that are NULL */
	bool		recheck;		/* true if the executor must recheck the scan keys */
	bool		keep_pin;		/* true if the leaf of a TID must stay pinned until
								 * the heap tuple has been checked */

	ScanStage	stage;			/* of the current search */
	HammingScan *hamming;		/* kept for all searches.  NULL in a multi-key
								 * index. */
	MemoryContext context;		/* memory of merge, seen, overlap and the query
								 * keys.  NULL in an index with one key per row. */

	/* SCAN_KEYS */
	PostingMerge *merge;		/* NULL if the scan reads ranges, because one key
								 * is enough or all rows match */
	int			nranges;		/* number of ranges that reader reads.  0 if the
								 * scan merges postings. */
	TidSet	   *seen;			/* TIDs returned.  NULL if the scan cannot find a
								 * TID twice, or if its caller accepts a TID
								 * twice. */
	bool		or_empty;		/* true if rows without keys are still to be read
								 * after the ranges */

	OverlapScan *overlap;		/* SCAN_OVERLAP.  NULL in another stage. */
	KeyRange	nulls;			/* key range of the placeholders of NULLs */

	int			next;			/* index in reader.tids of the next TID to return */
} SimHashScan;

/*
 * ambeginscan: prepare a scan.
 */
IndexScanDesc
simhash_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	SimHashScan *state = palloc0(sizeof(SimHashScan));

	/* amcostestimate removes the order from a path with several distances */
	if (norderbys > 1)
		elog(ERROR, "index \"%s\" cannot be scanned in order of several distances",
			 RelationGetRelationName(index));
	state->opclass = opclass_of_trees(index);
	leaf_reader_init(&state->reader, index);
	if (state->opclass->multi_key == NULL)
		state->hamming = hamming_scan_create(&state->reader, nkeys);
	else
		state->context = AllocSetContextCreate(CurrentMemoryContext, "simhash query keys",
											   ALLOCSET_SMALL_SIZES);
	state->nulls = (KeyRange) {meta_get(index)->design.ntables, 0,
		PLACEHOLDER_NULL, PLACEHOLDER_NULL};
	if (norderbys > 0)
	{
		scan->xs_orderbyvals = palloc0(sizeof(Datum));
		scan->xs_orderbynulls = palloc(sizeof(bool));
	}
	scan->xs_recheckorderby = false;
	scan->opaque = state;
	return scan;
}

/*
 * Set want_rows and want_nulls according to the scan keys.  Rows that are NULL match only
 * IS NULL.  Other rows match neither IS NULL nor an operator whose argument is NULL.
 */
static void
read_null_tests(IndexScanDesc scan, SimHashScan *state)
{
	state->want_rows = state->want_nulls = true;
	for (int i = 0; i < scan->numberOfKeys; i++)
	{
		int			flags = scan->keyData[i].sk_flags;

		if (!(flags & SK_SEARCHNULL))
			state->want_nulls = false;
		if ((flags & SK_ISNULL) && !(flags & SK_SEARCHNOTNULL))
			state->want_rows = false;
	}
}

/*
 * Extract the query keys of the scan keys, for rows that are not NULL.  Stores a set of
 * query keys in `sets` for each scan key, and sets *nsets to the number of sets.  A scan
 * key has no set if every row that is not NULL matches it.  This is so for IS NOT NULL,
 * and for an operator that needs a full index scan.  Requests a recheck if such an operator
 * needs one (KeySet.recheck).
 *
 * Returns false if no row matches.  Raises an error if the parameters of a query differ
 * from those of the index.
 */
static bool
read_query_keys(IndexScanDesc scan, SimHashScan *state, KeySet *sets, int *nsets)
{
	const Opclass *opclass = state->opclass;
	Relation	index = scan->indexRelation;

	*nsets = 0;
	for (int i = 0; i < scan->numberOfKeys; i++)
	{
		ScanKey		key = &scan->keyData[i];
		KeySet		set = {.params = NO_PARAMS,.min_match = 1};
		bool		all;

		if (key->sk_flags & SK_ISNULL)
			continue;			/* IS NOT NULL */
		all = !opclass->multi_key->extract_query(key, &set);
		params_check(index, meta_get(index)->params, set.params);
		if (all)
		{
			state->recheck |= set.recheck;
			continue;
		}
		if (set.n == 0 && !set.or_empty)
			return false;
		Assert(set.key != &set.inline_key);	/* the set is copied */
		sets[(*nsets)++] = set;
	}
	return true;
}

/*
 * Return the set of query keys to search for.  This is the set with the greatest
 * min_match.  If several sets have the greatest min_match, it is one with the fewest
 * keys.  nsets is at least 1.
 */
static const KeySet *
best_query_keys(const KeySet *sets, int nsets)
{
	const KeySet *best = &sets[0];

	for (int i = 1; i < nsets; i++)
		if (sets[i].min_match != best->min_match ?
			sets[i].min_match > best->min_match : sets[i].n < best->n)
			best = &sets[i];
	return best;
}

/*
 * Set query->min_match and query->or_empty for a scan in order of overlap with `query`.
 * min_match is the greatest of the sets with the same keys as `query`, or 0 if there is no
 * such set.  or_empty is true if all of these sets have or_empty.  Sets *recheck to true
 * if the scan does not check a set: one with other keys, or with recheck.
 */
static void
limit_query(const KeySet *sets, int nsets, KeySet *query, bool *recheck)
{
	query->min_match = 0;
	query->or_empty = true;
	for (int i = 0; i < nsets; i++)
	{
		bool		same = sets[i].n == query->n &&
			(query->n == 0 ||
			 memcmp(sets[i].key, query->key, query->n * sizeof(uint64)) == 0);

		*recheck |= !same || sets[i].recheck;
		if (!same)
			continue;
		query->min_match = Max(query->min_match, sets[i].min_match);
		query->or_empty &= sets[i].or_empty;
	}
}

/*
 * Begin a search for rows that contain at least query.min_match of the query keys, and for
 * rows without keys if query.or_empty.  If the postings cannot be merged within work_mem,
 * counts hits instead.
 *
 * With a non-MVCC snapshot, the leaf of a TID must stay pinned until the heap tuple has
 * been checked (leaf_reader_read).  A merge cannot keep the leaves of several keys pinned.
 * Instead it requests a recheck.  Then a row that took the place of a vacuumed one is
 * returned only if it matches, too.  A row whose entries are in the index all the time is
 * not missed.  A cursor seeks by key and TID, from the root, so no split or merge of leaves
 * moves an entry past it.  A row that is inserted or updated meanwhile may be missed, as
 * without a merge: a session that writes to a table with an exclusion constraint inserts
 * all keys of its row before it searches, so of two sessions at least one finds the other's
 * row.
 */
static void
begin_keys(IndexScanDesc scan, SimHashScan *state, KeySet query)
{
	LeafReader *reader = &state->reader;

	state->recheck |= query.recheck;
	state->or_empty = query.or_empty;
	if (query.min_match <= 1)
	{
		state->nranges = query.n;
		leaf_reader_start_keys(reader, query.key, query.n);
		return;
	}
	if (!IsMVCCSnapshot(scan->xs_snapshot))
	{
		state->recheck = true;
		state->keep_pin = false;
	}
	state->merge = posting_merge_create(state->context, reader, query.key, query.n,
										query.min_match, query.recheck);
	if (state->merge == NULL)
	{
		state->stage = SCAN_OVERLAP;
		state->overlap = overlap_scan_create(state->context, reader, &query, false);
	}
}

/*
 * Begin a search that returns rows ranked by overlap with the query of ORDER BY.  If the
 * query is NULL, the distance of every row is NULL, and the rows have no order.
 */
static void
begin_overlap(IndexScanDesc scan, SimHashScan *state, const KeySet *sets, int nsets)
{
	ScanKey		key = scan->orderByData;
	KeySet		query = {0};
	bool		isnull = (key->sk_flags & SK_ISNULL) != 0;

	if (!isnull)
		state->opclass->multi_key->extract_value(key->sk_argument, &query);
	limit_query(sets, nsets, &query, &state->recheck);
	state->stage = SCAN_OVERLAP;
	state->overlap = overlap_scan_create(state->context, &state->reader, &query,
										 !isnull && key->sk_strategy == STRATEGY_JACCARD);
}

/*
 * Begin a search of a multi-key index.  Without ORDER BY and with several sets of query
 * keys, searches for the keys of the best set (best_query_keys), and requests a recheck.
 * Returns false if no non-NULL row can match.
 */
static bool
begin_multi_key(IndexScanDesc scan, SimHashScan *state)
{
	MemoryContext old_context = MemoryContextSwitchTo(state->context);
	KeySet	   *sets = palloc(scan->numberOfKeys * sizeof(KeySet));
	int			nsets;
	bool		any = read_query_keys(scan, state, sets, &nsets);

	state->stage = SCAN_KEYS;
	if (any && scan->numberOfOrderBys > 0)
		begin_overlap(scan, state, sets, nsets);
	else if (any && nsets == 0)
	{
		state->nranges = lengthof(not_null_rows);
		leaf_reader_start_ranges(&state->reader, not_null_rows, state->nranges);
	}
	else if (any)
	{
		state->recheck |= nsets > 1;
		begin_keys(scan, state, *best_query_keys(sets, nsets));
	}
	MemoryContextSwitchTo(old_context);
	return any;
}

/*
 * Begin a search of an index with one key per row.  Returns false if no non-NULL row can
 * match.
 */
static bool
begin_hamming(IndexScanDesc scan, SimHashScan *state)
{
	ScanKey		order = scan->numberOfOrderBys > 0 ? scan->orderByData : NULL;

	if (order)
		scan->xs_orderbynulls[0] = (order->sk_flags & SK_ISNULL) != 0;
	state->stage = SCAN_HAMMING;
	return hamming_scan_begin(state->hamming, scan->keyData, scan->numberOfKeys, order);
}

/*
 * Begin to return rows that are NULL.  Returns none of them if want_nulls is false.  The
 * distances of these rows are NULL.
 */
static void
begin_nulls(IndexScanDesc scan, SimHashScan *state)
{
	if (scan->numberOfOrderBys > 0)
		scan->xs_orderbynulls[0] = true;
	state->stage = SCAN_NULLS;
	leaf_reader_start_ranges(&state->reader, &state->nulls, state->want_nulls ? 1 : 0);
}

/*
 * End the current search.  Frees merge, seen, overlap and the query keys, but not hamming.
 */
static void
end_search(SimHashScan *state)
{
	if (state->seen)
		tid_set_free(state->seen);
	if (state->overlap)
		overlap_scan_end(state->overlap);
	state->merge = NULL;
	state->nranges = 0;
	state->seen = NULL;
	state->or_empty = false;
	state->overlap = NULL;
	if (state->context)
		MemoryContextReset(state->context);
}

/*
 * amrescan: begin a search, after the end of the previous search.  Raises an error if the
 * parameters of a query differ from those of the index.
 */
void
simhash_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
			   ScanKey orderbys, int norderbys)
{
	SimHashScan *state = scan->opaque;

	end_search(state);
	leaf_reader_reset(&state->reader, scan->xs_snapshot);
	state->next = 0;
	state->started = false;
	state->recheck = state->opclass->recheck;
	state->keep_pin = !IsMVCCSnapshot(scan->xs_snapshot);

	if (keys && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orderbys && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orderbys, sizeof(ScanKeyData));
	read_null_tests(scan, state);
	if (!state->want_rows ||
		!(state->hamming ? begin_hamming(scan, state) : begin_multi_key(scan, state)))
		begin_nulls(scan, state);
}

/*
 * Set reader.tids to the TIDs of the next rows in the stage SCAN_KEYS.  Returns false after the
 * last TID.
 */
static bool
next_keys(SimHashScan *state)
{
	LeafReader *reader = &state->reader;

	if (state->merge)
		return posting_merge_next(state->merge, NULL);
	for (;;)
	{
		while (leaf_reader_next(reader))
		{
			if (state->seen)
				reader->ntids = tid_set_keep_new(state->seen, reader->tids, reader->ntids);
			if (reader->ntids > 0)
				return true;
		}
		if (!state->or_empty)
			break;
		leaf_reader_start_ranges(reader, &not_null_rows[1], 1);
		state->or_empty = false;
	}
	if (state->seen)
		reader->ntids = tid_set_fetch_deferred(state->seen, reader->tids, MAX_LEAF_ENTRIES);
	return reader->ntids > 0;
}

/*
 * Set reader.tids to the TIDs of the next rows.  In a scan with ORDER BY, these rows have
 * the same distance, and xs_orderbyvals is set to this distance.  If the distance is
 * NULL, xs_orderbynulls is true instead.  If it is a lower bound, xs_recheckorderby is true.
 * Returns false after the last TID.
 */
static bool
next_rows(IndexScanDesc scan)
{
	SimHashScan *state = scan->opaque;
	bool		any = false;
	Datum		distance = (Datum) 0;
	float8		fraction;

	state->next = 0;
	switch (state->stage)
	{
		case SCAN_HAMMING:
			any = hamming_scan_next(state->hamming);
			distance = Int32GetDatum(state->hamming->radius);
			break;
		case SCAN_KEYS:
			any = next_keys(state);
			break;
		case SCAN_OVERLAP:
			any = overlap_scan_next(state->overlap, &fraction);
			if (any && scan->numberOfOrderBys > 0)
			{
				distance = Float8GetDatum(fraction);
				scan->xs_orderbynulls[0] = isnan(fraction);
				scan->xs_recheckorderby = fraction < 1 &&
					scan->orderByData->sk_strategy == STRATEGY_JACCARD;
			}
			break;
		case SCAN_NULLS:
			return leaf_reader_next(&state->reader);
	}
	if (!any)
	{
		begin_nulls(scan, state);
		return leaf_reader_next(&state->reader);
	}
	if (scan->numberOfOrderBys > 0)
		scan->xs_orderbyvals[0] = distance;
	return true;
}

/*
 * Start to return the rows of a search that simhash_rescan() has begun.  If keep_pin is
 * true, a leaf with matches stays pinned until the executor has checked the heap tuples
 * of the matches (leaf_reader_read).  Raises an error for an index-only scan, and for a
 * scan with both keep_pin and ORDER BY.
 */
static void
begin_scan(IndexScanDesc scan, bool keep_pin)
{
	SimHashScan *state = scan->opaque;

	count_index_scan(scan);
	state->started = true;
	state->reader.keep_pin = keep_pin;

	/* amcostestimate turns an index-only scan into a plain index scan */
	if (scan->xs_want_itup)
		elog(ERROR, "index \"%s\" does not support index-only scans",
			 RelationGetRelationName(scan->indexRelation));

	/* the leaves of queued or counted TIDs cannot all stay pinned */
	if (scan->numberOfOrderBys > 0 && keep_pin)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" cannot be scanned in order of distance without an MVCC snapshot",
						RelationGetRelationName(scan->indexRelation))));
}

/*
 * amgettuple: return the TID of the next row in xs_heaptid.  Returns false after the last
 * row.  With a non-MVCC snapshot, the leaf of the TID stays pinned at least until the next
 * call, unless the scan merges postings.
 */
bool
simhash_gettuple(IndexScanDesc scan, ScanDirection direction)
{
	SimHashScan *state = scan->opaque;

	if (!state->started)
	{
		begin_scan(scan, state->keep_pin);
		/* a bitmap contains each TID once; a merge or a scan of one range finds it once */
		if (state->nranges > 1)
			state->seen = tid_set_create(state->context, !state->keep_pin);
	}
	scan->xs_recheck = state->recheck;
	if (state->next == state->reader.ntids && !next_rows(scan))
		return false;
	scan->xs_heaptid = state->reader.tids[state->next++];
	return true;
}

/*
 * amgetbitmap: add the TIDs of all matches to a bitmap.  Returns the number of TIDs
 * added, which counts a TID as often as the scan finds it.
 */
int64
simhash_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	SimHashScan *state = scan->opaque;
	LeafReader *reader = &state->reader;
	int64		ntids = 0;

	begin_scan(scan, false);
	while (next_rows(scan))
	{
		tbm_add_tuples(bitmap, reader->tids, reader->ntids, state->recheck);
		ntids += reader->ntids;
	}
	return ntids;
}

/*
 * amendscan: end a scan.  Releases the pinned leaf, if there is one.
 */
void
simhash_endscan(IndexScanDesc scan)
{
	SimHashScan *state = scan->opaque;

	leaf_reader_release(&state->reader);
	end_search(state);
	if (state->hamming)
		hamming_scan_end(state->hamming);
	if (state->context)
		MemoryContextDelete(state->context);
	pfree(state);
}
