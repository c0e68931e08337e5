/*
 * Scans for rows ranked by overlap: rows with the most query keys come first
 *
 * The containment distance of a row is the fraction of the query keys that the row lacks.  So
 * the scan counts the hits of each TID.  A hit is a query key that the row contains
 * (tid_hash.c).  The Jaccard distance is not less, since a row and the query have at least
 * the query keys together.  It is equal if the row has no other keys, or none of the query
 * keys.
 *
 * Frequent keys occur in many rows.  The scan reads all of their postings only if it must.
 * It returns rows in this order:
 *
 * 1. Rows with a rare key.  The scan counts the hits of the rare keys.  Then it looks up
 *	  which frequent keys each of these rows contains.  Let F be the number of frequent
 *	  keys.  A row without a rare key contains at most F query keys.  So the scan first
 *	  returns the rows with a rare key that contain at least F query keys.
 * 2. Rows that contain all frequent keys but no rare key, found by a merge
 *	  (postings.c).
 * 3. All other rows with a query key.  For these, the scan counts the hits of all keys.
 * 4. Rows with keys, but none of the query keys.
 * 5. Rows without keys.
 *
 * If there are frequent keys, and the rows with a rare key or the frequent keys are too many
 * for work_mem, the scan skips steps 1 and 2.  If min_match is not 0, the scan skips step 4, and
 * step 5 unless or_empty is true.  If min_match is above 1, step 3 is all: a merge finds the rows
 * with at least min_match query keys, or the scan counts all hits if the merge does not fit into
 * work_mem.
 *
 * In order of Jaccard distance, this fraction is a lower bound, and the executor reorders.  The
 * bound is one division as the distance is, so it holds in floating point.  A query whose
 * nearest row is at distance d fetches all rows that lack less than the fraction d of its keys.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/float.h"

#include "index/scan/scans.h"

/* A key is frequent if its postings may continue after this number of leaves. */
#define RARE_LEAVES		3

/*
 * Number of TIDs that the cursor of a frequent key copies at a time (look_up_frequent).
 * A leaf contains more TIDs, but usually only one TID of a leaf is looked up.
 */
#define FREQUENT_CURSOR_TIDS	32

/* The stages of a scan, in order: steps 1 to 5 above. */
typedef enum OverlapStage
{
	OVERLAP_BEGIN,
	OVERLAP_RARE,				/* rows with a rare key and at least nfrequent
								 * query keys */
	OVERLAP_FREQUENT,			/* rows with all frequent keys, but no rare key */
	OVERLAP_COUNTED,			/* remaining rows with min_match query keys or
								 * more, ranked by hits */
	OVERLAP_REST,				/* rows with keys, but no query key */
	OVERLAP_EMPTY,				/* rows without keys */
	OVERLAP_DONE
} OverlapStage;

struct OverlapScan
{
	MemoryContext context;
	LeafReader *reader;
	OverlapStage stage;
	const uint64 *keys;			/* query keys */
	int			nkeys;
	int			min_match;		/* minimum number of query keys that a matching row
								 * contains */
	bool		or_empty;		/* true if rows without keys may match anyway */
	bool		jaccard;		/* true if the order is by Jaccard distance */

	uint64	   *frequent;		/* frequent keys among the query keys */
	int			nfrequent;
	HitCounter *rare;			/* hits of the TIDs with a rare key.  At first
								 * only hits of rare keys are counted.  Hits
								 * of frequent keys are added later. */
	bool		rare_first;		/* true if OVERLAP_RARE and OVERLAP_FREQUENT
								 * return rows (find_rare) */
	PostingMerge *merge;		/* merge of all frequent keys.  NULL if no row
								 * with only these keys matches, or if
								 * OVERLAP_COUNTED returns these rows. */
	HitCounter *all;			/* hits of the TIDs with any query key, for
								 * OVERLAP_COUNTED.  NULL if not counted. */
	TidSet	   *rest;			/* TIDs that OVERLAP_REST must not return: TIDs
								 * with a query key, and TIDs already returned.
								 * NULL if min_match is not 0. */
	bool		rest_read;		/* true if OVERLAP_REST has read all leaves.
								 * Deferred TIDs may remain. */
};

/*
 * Create a scan for rows that contain at least min_match of the query keys, or no keys if
 * or_empty is true.  If min_match is 0, the scan returns all rows that are not NULL.  The
 * array of keys must stay valid until the scan ends.  If `jaccard` is true, the distances are
 * lower bounds of Jaccard distances.
 */
OverlapScan *
overlap_scan_create(MemoryContext context, LeafReader *reader, const KeySet *query, bool jaccard)
{
	OverlapScan *scan = MemoryContextAllocZero(context, sizeof(OverlapScan));

	scan->context = context;
	scan->reader = reader;
	scan->keys = query->key;
	scan->nkeys = query->n;
	scan->min_match = query->min_match;
	scan->or_empty = query->or_empty;
	scan->jaccard = jaccard;
	return scan;
}

/* --- reading ------------------------------------------------------------------- */

/*
 * Count the hits of the rare keys, and store the other query keys in `frequent`.  Of a
 * frequent key, reads only the first RARE_LEAVES leaves that contain it.
 */
static void
count_rare(OverlapScan *scan)
{
	LeafReader *reader = scan->reader;
	ItemPointerData *tids = palloc(RARE_LEAVES * MAX_LEAF_ENTRIES * sizeof(ItemPointerData));
	int			ntids = 0;
	int			nleaves = 0;
	uint64		key = 0;

	scan->rare = hit_counter_create(scan->context);
	scan->frequent = MemoryContextAlloc(scan->context, scan->nkeys * sizeof(uint64));
	leaf_reader_start_keys(reader, scan->keys, scan->nkeys);
	while (leaf_reader_next(reader))
	{
		if (nleaves == 0 || reader->range.low != key)
		{
			hit_counter_add(scan->rare, tids, NULL, ntids);
			ntids = nleaves = 0;
			key = reader->range.low;
		}
		memcpy(&tids[ntids], reader->tids, reader->ntids * sizeof(ItemPointerData));
		ntids += reader->ntids;
		if (++nleaves == RARE_LEAVES && reader->in_range)
		{
			scan->frequent[scan->nfrequent++] = key;
			reader->in_range = false;
			ntids = 0;
		}
	}
	hit_counter_add(scan->rare, tids, NULL, ntids);
	pfree(tids);
}

/*
 * Look up which frequent keys each row with a rare key contains, and add the number of
 * these keys to the row's count.  Skips a row if its count can no longer reach nfrequent.
 * The count of that row stays too low.  OVERLAP_COUNTED returns the row.
 */
static void
look_up_frequent(OverlapScan *scan)
{
	int64		n = hit_counter_in_memory(scan->rare);
	TidCount  **counts = hit_counter_by_tid(scan->rare);
	int64		ncandidates = n;

	for (int i = 0; i < scan->nfrequent && ncandidates > 0; i++)
	{
		uint64		tids[FREQUENT_CURSOR_TIDS];
		PostingCursor cursor;

		ncandidates = 0;
		posting_cursor_init(&cursor, scan->frequent[i], tids, FREQUENT_CURSOR_TIDS);
		for (int64 j = 0; j < n; j++)
		{
			CHECK_FOR_INTERRUPTS();
			if (counts[j]->count < i)
				continue;
			ncandidates++;
			if (!posting_cursor_seek(scan->reader, &cursor, counts[j]->tid))
				break;
			counts[j]->count += posting_cursor_tid(&cursor) == counts[j]->tid;
		}
	}
}

/*
 * Count the query keys of the rows with a rare key, and prepare the merge of the frequent
 * keys.  Returns false if there are frequent keys, and the TIDs or the cursors of the
 * merge do not fit into work_mem.  In that case the counts must not be used.
 */
static bool
find_rare(OverlapScan *scan)
{
	count_rare(scan);
	if (scan->nfrequent > 0 && hit_counter_in_memory(scan->rare) < 0)
		return false;
	if (scan->nfrequent > 0)
	{
		scan->merge = posting_merge_create(scan->context, scan->reader, scan->frequent,
										   scan->nfrequent, scan->nfrequent, false);
		if (scan->merge == NULL)
			return false;
		look_up_frequent(scan);
	}
	hit_counter_rank(scan->rare);
	return true;
}

/*
 * Rank all rows with at least min_match query keys by their numbers of query keys.  The ranking
 * may contain further rows.
 */
static void
rank_all(OverlapScan *scan)
{
	LeafReader *reader = scan->reader;
	PostingMerge *merge = scan->min_match <= 1 ? NULL :
		posting_merge_create(scan->context, reader, scan->keys, scan->nkeys, scan->min_match, false);
	int			hits[MAX_LEAF_ENTRIES];

	scan->all = hit_counter_create(scan->context);
	if (merge == NULL)
		leaf_reader_start_keys(reader, scan->keys, scan->nkeys);
	while (merge ? posting_merge_next(merge, hits) : leaf_reader_next(reader))
		hit_counter_add(scan->all, reader->tids, merge ? hits : NULL, reader->ntids);
	hit_counter_rank(scan->all);
}

/*
 * Prepare to return rows that contain no query key.
 */
static void
begin_rest(OverlapScan *scan)
{
	LeafReader *reader = scan->reader;

	scan->rest = tid_set_create(scan->context, true);
	leaf_reader_start_keys(reader, scan->keys, scan->nkeys);
	while (leaf_reader_next(reader))
		tid_set_exclude(scan->rest, reader->tids, reader->ntids);
	leaf_reader_start_ranges(reader, &not_null_rows[0], 1);
}

/* --- returning ----------------------------------------------------------------- */

/*
 * Each of the following functions sets reader->tids to the TIDs of the next rows of a
 * stage, and returns false after the last TID of the stage.  If it has a parameter
 * `count`, it sets *count to the number of query keys in each of these rows.
 */

/*
 * Fetch rows with a rare key and at least nfrequent query keys.  Rows with the most query
 * keys come first.
 */
static bool
fetch_rare(OverlapScan *scan, uint32 *count)
{
	LeafReader *reader = scan->reader;

	reader->ntids = hit_counter_fetch(scan->rare, reader->tids, MAX_LEAF_ENTRIES, count);
	return reader->ntids > 0 && *count >= scan->nfrequent;
}

/*
 * Fetch rows that contain all frequent keys, in TID order.  Skips rows with a rare key,
 * because OVERLAP_RARE has returned them already.
 */
static bool
fetch_frequent(OverlapScan *scan, uint32 *count)
{
	LeafReader *reader = scan->reader;

	do
	{
		int			n;

		if (!posting_merge_next(scan->merge, NULL))
			return false;
		n = reader->ntids;
		reader->ntids = 0;
		for (int i = 0; i < n; i++)
			if (hit_counter_look_up(scan->rare, tid_number(&reader->tids[i])) == 0)
				reader->tids[reader->ntids++] = reader->tids[i];
	} while (reader->ntids == 0);
	*count = scan->nfrequent;
	return true;
}

/*
 * Fetch the remaining rows with at least min_match query keys.  Rows with the most query
 * keys come first.  Skips rows that OVERLAP_RARE and OVERLAP_FREQUENT have returned.
 */
static bool
fetch_counted(OverlapScan *scan, uint32 *count)
{
	LeafReader *reader = scan->reader;

	do
	{
		reader->ntids = hit_counter_fetch(scan->all, reader->tids, MAX_LEAF_ENTRIES, count);
		if (reader->ntids == 0 || *count < scan->min_match)
			return false;
	} while (scan->rare_first && *count >= scan->nfrequent);
	return true;
}

/*
 * Fetch rows that contain no query key, in the order of the tree, and then the deferred
 * rows.
 */
static bool
fetch_rest(OverlapScan *scan)
{
	LeafReader *reader = scan->reader;

	while (!scan->rest_read)
	{
		scan->rest_read = !leaf_reader_next(reader);
		reader->ntids = tid_set_keep_new(scan->rest, reader->tids, reader->ntids);
		if (reader->ntids > 0)
			return true;
	}
	reader->ntids = tid_set_fetch_deferred(scan->rest, reader->tids, MAX_LEAF_ENTRIES);
	return reader->ntids > 0;
}

/*
 * Free the hit counters that exist.
 */
static void
free_counts(OverlapScan *scan)
{
	if (scan->rare)
		hit_counter_free(scan->rare);
	if (scan->all)
		hit_counter_free(scan->all);
	scan->rare = scan->all = NULL;
}

/*
 * Advance to the next stage, and prepare it.
 */
static void
begin_next_stage(OverlapScan *scan)
{
	LeafReader *reader = scan->reader;

	scan->stage++;
	switch (scan->stage)
	{
		case OVERLAP_RARE:
			scan->rare_first = scan->nkeys > 0 && scan->min_match <= 1 && find_rare(scan);
			if (!scan->rare_first)
				free_counts(scan);	/* the counter of OVERLAP_COUNTED needs
									 * work_mem */
			break;
		case OVERLAP_COUNTED:
			/*
			 * if rare_first, all rows with nfrequent or more keys have been returned
			 */
			if (scan->rare_first ? scan->nfrequent > 1 : scan->nkeys > 0)
			{
				free_counts(scan);
				rank_all(scan);
			}
			break;
		case OVERLAP_REST:
			free_counts(scan);
			if (scan->min_match == 0)
				begin_rest(scan);
			break;
		case OVERLAP_EMPTY:
			leaf_reader_start_ranges(reader, &not_null_rows[1],
									 scan->min_match == 0 || scan->or_empty ? 1 : 0);
			break;
		default:
			break;
	}
}

/*
 * Set reader->tids to the TIDs of the next rows, which have the same distance.  Sets
 * *distance to this distance: the fraction of the query keys that each row lacks.
 * Computes it by one division, as simhash_containment_distance() does, so that both
 * results are equal.  Of an empty query, the Jaccard distance of rows with keys is 1.  All
 * other distances are NULL, and set to NaN.  Returns false if there are no more non-NULL rows.
 */
bool
overlap_scan_next(OverlapScan *scan, float8 *distance)
{
	while (scan->stage != OVERLAP_DONE)
	{
		bool		any = false;
		uint32		count = 0;

		if (scan->stage == OVERLAP_RARE && scan->rare_first)
			any = fetch_rare(scan, &count);
		else if (scan->stage == OVERLAP_FREQUENT && scan->merge)
			any = fetch_frequent(scan, &count);
		else if (scan->stage == OVERLAP_COUNTED && scan->all)
			any = fetch_counted(scan, &count);
		else if (scan->stage == OVERLAP_REST && scan->rest)
			any = fetch_rest(scan);
		else if (scan->stage == OVERLAP_EMPTY)
			any = leaf_reader_next(scan->reader);
		if (any)
		{
			if (scan->nkeys > 0)
				*distance = (float8) (scan->nkeys - (int) count) / scan->nkeys;
			else
				*distance = scan->jaccard && scan->stage == OVERLAP_REST ? 1 : get_float8_nan();
			return true;
		}
		begin_next_stage(scan);
	}
	return false;
}

/*
 * Free the memory of the scan that is not in its memory context.
 */
void
overlap_scan_end(OverlapScan *scan)
{
	free_counts(scan);
	if (scan->rest)
		tid_set_free(scan->rest);
}
