/*
 * Scans for rows that contain any of n keys, or at least min_match of them
 *
 * A scan for at least T keys pins no leaf.  With a non-MVCC snapshot, the executor rechecks
 * the operator: a row that took the place of a vacuumed one is returned only if it matches.
 * The scan may miss a row whose keys are inserted meanwhile.  A constraint holds all the
 * same, because each session inserts all keys of its row before it searches.  Of two
 * sessions, at least one finds the row of the other.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "index/scan/scans.h"

struct KeysScan
{
	MemoryContext context;
	LeafReader *reader;
	int			nranges;		/* number of ranges that reader reads.  0 if the
								 * scan merges postings. */
	TidSet	   *seen;			/* TIDs returned.  NULL if the scan cannot find
								 * a TID twice, or if its caller accepts a TID
								 * twice. */
	PostingMerge *merge;		/* NULL if the scan reads ranges, because one
								 * key is enough or all rows match */
	bool		or_empty;		/* true if rows without keys are still to be
								 * read after the ranges */
};

/* Key ranges of all rows that are not NULL: rows with keys, and rows without. */
static const KeyRange not_null_rows[] = {
	{KEYS_TREE, 0, 0, PG_UINT64_MAX},
	{PLACEHOLDER_TREE, 0, PLACEHOLDER_EMPTY, PLACEHOLDER_EMPTY},
};

/*
 * Begin a scan for rows that contain at least query->min_match of the query keys, and for
 * rows without keys if query->or_empty is true.  If `query` is NULL, the scan is for all
 * rows that are not NULL.  Returns NULL if the postings of the query keys must be merged,
 * but cannot be merged within work_mem.  The array of keys must stay valid until the scan
 * ends.
 */
KeysScan *
keys_scan_create(MemoryContext context, LeafReader *reader, const KeySet *query)
{
	KeysScan   *scan = MemoryContextAllocZero(context, sizeof(KeysScan));

	scan->context = context;
	scan->reader = reader;
	if (query == NULL)
	{
		scan->nranges = lengthof(not_null_rows);
		leaf_reader_start_ranges(reader, not_null_rows, scan->nranges);
		return scan;
	}
	scan->or_empty = query->or_empty;
	if (query->min_match > 1)
	{
		scan->merge = posting_merge_create(context, reader, query->key, query->n,
										   query->min_match, query->recheck);
		return scan->merge ? scan : NULL;
	}
	scan->nranges = query->n;
	leaf_reader_start_keys(reader, query->key, query->n);
	return scan;
}

/*
 * Make the scan return each TID once.  A bitmap scan does not need this, because a bitmap
 * contains each TID once.  A merge finds each TID once anyway, and so does a scan of one
 * range.  If may_defer is true, the scan may defer TIDs to its end (tid_set_create).
 */
void
keys_scan_return_once(KeysScan *scan, bool may_defer)
{
	if (scan->nranges > 1)
		scan->seen = tid_set_create(scan->context, may_defer);
}

/*
 * Set reader->tids to the TIDs of the next rows.  Returns false after the last TID.
 */
bool
keys_scan_next(KeysScan *scan)
{
	LeafReader *reader = scan->reader;

	if (scan->merge)
		return posting_merge_next(scan->merge, NULL);
	for (;;)
	{
		while (leaf_reader_next(reader))
		{
			if (scan->seen)
				reader->ntids = tid_set_keep_new(scan->seen, reader->tids, reader->ntids);
			if (reader->ntids > 0)
				return true;
		}
		if (!scan->or_empty)
			break;
		leaf_reader_start_ranges(reader, &not_null_rows[1], 1);
		scan->or_empty = false;
	}
	if (scan->seen)
		reader->ntids = tid_set_fetch_deferred(scan->seen, reader->tids, MAX_LEAF_ENTRIES);
	return reader->ntids > 0;
}

/*
 * Free the memory of the scan that is not in its memory context.
 */
void
keys_scan_end(KeysScan *scan)
{
	if (scan->seen)
		tid_set_free(scan->seen);
}
