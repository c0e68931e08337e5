/*-------------------------------------------------------------------------
 *
 * scan_overlap.c
 *		Scans for rows ranked by overlap: those with the most of some keys first
 *
 * The distance of a row is the fraction of the keys that it lacks.  So hits of TIDs are
 * counted, one for each of the keys that a row has.  After these rows come those that have
 * none of the keys, then those without keys.
 *
 * Some keys are frequent: they stand in many rows, which are read only if need be.  First
 * the rows of rare keys are found, and it is looked up which of the frequent keys each of
 * them has.  A row that has no rare key has at most all the frequent ones.  So rows with as
 * many keys are returned first, and then the rows that have all frequent keys, as they are
 * found by merging.  Only then the rows of all keys are counted.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "index/opclass.h"
#include "index/scan/hit_counter.h"
#include "index/scan/posting_cursor.h"
#include "index/scan/posting_merge.h"
#include "index/scan/scan_overlap.h"
#include "index/scan/tid_set.h"

/* A key is frequent if its entries go on after so many leaves. */
#define RARE_LEAVES		3

/*
 * TIDs of a frequent key that are kept at a time, where those of rare keys are looked up:
 * fewer than a leaf has, since mostly one of them is asked for before it is another leaf's
 * turn.
 */
#define TIDS_KEPT			32

typedef enum OverlapStage
{
	OVERLAP_BEGIN,
	OVERLAP_RARE,				/* rows of rare keys, as far as they come first */
	OVERLAP_FREQUENT,			/* rows of all the frequent keys */
	OVERLAP_COUNTED,			/* the others that have a key */
	OVERLAP_REST,				/* rows with keys, but none of these */
	OVERLAP_EMPTY,				/* rows without keys */
	OVERLAP_DONE
} OverlapStage;

struct OverlapScan
{
	MemoryContext context;
	LeafReader *reader;
	OverlapStage stage;
	const uint64 *keys;
	int			nkeys;
	int			min_match;		/* keys that a row has to have */

	uint64	   *frequent;		/* keys */
	int			nfrequent;
	HitCounter *rare;			/* rows of the others */
	bool		rare_first;		/* those with as many keys as they need come first */
	PostingMerge *merge;		/* of the frequent keys; NULL: rows that have these
								 * alone are not wanted, or are counted */
	HitCounter *all;
	TidSet	   *rest;			/* rows that have none of the keys */
	bool		rest_read;		/* all but those deferred */
};

static const KeyRange keyed_rows = {KEYS_TREE, 0, 0, PG_UINT64_MAX};
static const KeyRange empty_rows = {PLACEHOLDER_TREE, 0, PLACEHOLDER_EMPTY, PLACEHOLDER_EMPTY};

/*
 * Create a scan for rows with at least min_match of n keys, and for all rows if that is 0.
 * The caller keeps the array.
 */
OverlapScan *
overlap_scan_create(MemoryContext context, LeafReader *reader, const uint64 *keys, int n,
					int min_match)
{
	OverlapScan *scan = MemoryContextAllocZero(context, sizeof(OverlapScan));

	scan->context = context;
	scan->reader = reader;
	scan->keys = keys;
	scan->nkeys = n;
	scan->min_match = min_match;
	return scan;
}

/* --- reading ------------------------------------------------------------------- */

/*
 * Count the rows of all keys.
 */
static void
count_all(OverlapScan *scan)
{
	LeafReader *reader = scan->reader;

	scan->all = hit_counter_create(scan->context);
	leaf_reader_start_keys(reader, scan->keys, scan->nkeys);
	while (leaf_reader_next(reader))
		hit_counter_add(scan->all, reader->tids, reader->ntids);
	hit_counter_rank(scan->all);
}

/*
 * Count the rows of those keys that are rare, and put the others aside.
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
			hit_counter_add(scan->rare, tids, ntids);
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
	hit_counter_add(scan->rare, tids, ntids);
	pfree(tids);
}

/*
 * Return how many keys a row must have to be returned before the rows of frequent keys are
 * read: as many as there are of these, and min_match.
 */
static int
needed_of_rare(const OverlapScan *scan)
{
	return Max(scan->nfrequent, scan->min_match);
}

/*
 * Count which of the frequent keys the rows of rare ones have.  A row that cannot have as
 * many as it needs to be returned first is left with too low a count: it is returned with
 * the rows of all keys, or not at all.
 */
static void
look_up_frequent(OverlapScan *scan)
{
	LeafReader *reader = scan->reader;
	int64		n = hit_counter_in_memory(scan->rare);
	TidCount  **counts = hit_counter_by_tid(scan->rare);
	int64		nleft = n;

	for (int i = 0; i < scan->nfrequent && nleft > 0; i++)
	{
		int			needed = needed_of_rare(scan) - (scan->nfrequent - i);
		uint64		kept[TIDS_KEPT];
		PostingCursor cursor;

		nleft = 0;
		posting_cursor_init(&cursor, scan->frequent[i], kept, TIDS_KEPT);
		for (int64 j = 0; j < n; j++)
		{
			CHECK_FOR_INTERRUPTS();
			if ((int) counts[j]->count < needed)
				continue;
			nleft++;
			if (!posting_cursor_seek(reader->index, reader->snapshot, &cursor,
									 counts[j]->tid))
				break;
			counts[j]->count += posting_cursor_tid(&cursor) == counts[j]->tid;
		}
	}
}

/*
 * Find the rows that have a rare key, and which of the frequent ones they have.  Returns
 * false if the rows, or the frequent keys, are too many: then nothing is known of them.
 */
static bool
find_rare(OverlapScan *scan)
{
	count_rare(scan);
	if (scan->nfrequent > 0 && hit_counter_in_memory(scan->rare) < 0)
		return false;
	if (scan->nfrequent >= Max(scan->min_match, 1))
	{
		scan->merge = posting_merge_create(scan->context, scan->reader, scan->frequent,
										   scan->nfrequent, scan->nfrequent);
		if (scan->merge == NULL)
			return false;
	}
	if (scan->nfrequent > 0)
		look_up_frequent(scan);
	hit_counter_rank(scan->rare);
	return true;
}

/*
 * Prepare to return rows that have none of the keys: all others are excluded.
 */
static void
begin_rest(OverlapScan *scan)
{
	LeafReader *reader = scan->reader;

	scan->rest = tid_set_create(scan->context, true);
	leaf_reader_start_keys(reader, scan->keys, scan->nkeys);
	while (leaf_reader_next(reader))
		tid_set_exclude(scan->rest, reader->tids, reader->ntids);
	leaf_reader_start_ranges(reader, &keyed_rows, 1);
}

/* --- returning ----------------------------------------------------------------- */

/*
 * Return rows of rare keys, as long as they have as many keys as they need.  As the next
 * functions do, it puts TIDs into the reader, all with *count keys.  They return false if
 * there are no more.
 */
static bool
take_rare(OverlapScan *scan, uint32 *count)
{
	LeafReader *reader = scan->reader;

	reader->ntids = hit_counter_take(scan->rare, reader->tids, MAX_LEAF_ENTRIES, count);
	return reader->ntids > 0 && *count >= needed_of_rare(scan);
}

/*
 * Return rows that have all the frequent keys, as they are found: but not those of a rare
 * key, which have been returned.
 */
static bool
take_frequent(OverlapScan *scan, uint32 *count)
{
	LeafReader *reader = scan->reader;

	do
	{
		int			n;

		if (!posting_merge_next(scan->merge))
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
 * Return the others that have a key.
 */
static bool
take_counted(OverlapScan *scan, uint32 *count)
{
	LeafReader *reader = scan->reader;

	do
	{
		reader->ntids = hit_counter_take(scan->all, reader->tids, MAX_LEAF_ENTRIES, count);
		if (reader->ntids == 0 || *count < scan->min_match)
			return false;
	} while (scan->rare_first && *count >= scan->nfrequent);
	return true;
}

/*
 * Return rows that have none of the keys, as they are read.
 */
static bool
take_rest(OverlapScan *scan)
{
	LeafReader *reader = scan->reader;

	while (!scan->rest_read)
	{
		scan->rest_read = !leaf_reader_next(reader);
		reader->ntids = tid_set_keep_new(scan->rest, reader->tids, reader->ntids);
		if (reader->ntids > 0)
			return true;
	}
	reader->ntids = tid_set_take_deferred(scan->rest, reader->tids, MAX_LEAF_ENTRIES);
	return reader->ntids > 0;
}

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
 * Prepare the next stage.
 */
static void
begin_next_stage(OverlapScan *scan)
{
	scan->stage++;
	switch (scan->stage)
	{
		case OVERLAP_RARE:
			scan->rare_first = scan->nkeys > 0 && find_rare(scan);
			if (!scan->rare_first)
				free_counts(scan);	/* their memory is that of the next */
			break;
		case OVERLAP_COUNTED:
			/* those that have as many keys as there are frequent ones have been returned */
			if (scan->rare_first ? scan->nfrequent > Max(scan->min_match, 1) :
				scan->nfrequent > 0)
			{
				free_counts(scan);
				count_all(scan);
			}
			break;
		case OVERLAP_REST:
			free_counts(scan);
			if (scan->min_match > 0)
				scan->stage = OVERLAP_DONE;
			else
				begin_rest(scan);
			break;
		case OVERLAP_EMPTY:
			leaf_reader_start_ranges(scan->reader, &empty_rows, 1);
			break;
		default:
			break;
	}
}

/*
 * Put the TIDs of the next rows into the reader, all at one distance: the fraction of the
 * keys that they lack, by one division.  Returns false after the last ones that are not
 * NULL.
 */
bool
overlap_scan_next(OverlapScan *scan, float8 *distance)
{
	while (scan->stage != OVERLAP_DONE)
	{
		bool		taken = false;
		uint32		count = 0;

		if (scan->stage == OVERLAP_RARE && scan->rare_first)
			taken = take_rare(scan, &count);
		else if (scan->stage == OVERLAP_FREQUENT && scan->merge)
			taken = take_frequent(scan, &count);
		else if (scan->stage == OVERLAP_COUNTED && scan->all)
			taken = take_counted(scan, &count);
		else if (scan->stage == OVERLAP_REST)
			taken = take_rest(scan);
		else if (scan->stage == OVERLAP_EMPTY)
			taken = leaf_reader_next(scan->reader);
		if (taken)
		{
			*distance = (float8) (scan->nkeys - (int) count) / scan->nkeys;
			return true;
		}
		begin_next_stage(scan);
	}
	return false;
}

/*
 * Free what is not in the memory context.
 */
void
overlap_scan_end(OverlapScan *scan)
{
	free_counts(scan);
	if (scan->rest)
		tid_set_free(scan->rest);
}
