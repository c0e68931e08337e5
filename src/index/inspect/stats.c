/*
 * simhash_index_stats: size and skew of the levels of an index
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/tuplestore.h"

#include "bits.h"
#include "compat.h"
#include "index/inspect/inspect.h"
#include "index/load/load.h"

#define STATS_COLUMNS	8

/* Statistics of a level of a tree. */
typedef struct LevelStats
{
	int64		pages;			/* number of pages */
	int64		entries;		/* number of entries on these pages */
	int64		capacity;		/* maximum number of entries on these pages */

	/* runs of leaf entries whose keys have the same prefix */
	int			nprefix;		/* length of the prefix, in bits; 0 if none */
	uint64		prefix;			/* prefix of the current run */
	int64		run;			/* length of the current run, in entries */
	int64		longest_run;	/* length of the longest run, in entries */
} LevelStats;

/*
 * Count runs of keys with the same prefix on a copy of a leaf.  The first run on the leaf
 * may continue the last run of the previous leaf.
 */
static void
count_runs(LevelStats *stats, Page page)
{
	int			n = page_nentries(page);
	uint64		keys[MAX_LEAF_ENTRIES];

	/* entries past nsorted are not in order */
	memcpy(keys, page_keys(page), n * sizeof(uint64));
	qsort(keys, n, sizeof(uint64), bits_compare);
	for (int i = 0; i < n; i++)
	{
		uint64		prefix = keys[i] >> (SIMHASH_BITS - stats->nprefix);

		if (prefix != stats->prefix)
			stats->run = 0;
		stats->prefix = prefix;
		stats->run++;
		stats->longest_run = Max(stats->longest_run, stats->run);
	}
}

/*
 * Add a copy of a page to the statistics of its level (a PageVisitor).
 */
static void
count_page(void *arg, Page page)
{
	LevelStats *stats = arg;

	stats->pages++;
	stats->entries += page_nentries(page);
	stats->capacity += page_max_entries(page);
	if (page_is_leaf(page) && stats->nprefix > 0)
		count_runs(stats, page);
}

/*
 * Add a row to the result for each level of a tree, from the root down.
 */
static void
report_tree(Relation index, const IndexMeta *meta, int tree, ReturnSetInfo *result)
{
	bool		is_table = tree < meta->design.ntables;

	for (int level = meta->root[tree].level; level >= 0; level--)
	{
		LevelStats	stats = {0};
		Datum		values[STATS_COLUMNS];
		bool		nulls[STATS_COLUMNS] = {0};

		stats.nprefix = is_table ? meta->design.table[tree].nprefix : 0;
		inspect_walk_level(index, tree, level, count_page, &stats);
		values[0] = Int32GetDatum(tree + 1);
		nulls[0] = !is_table;
		values[1] = Int32GetDatum(stats.nprefix);
		nulls[1] = !is_table;
		values[2] = Int32GetDatum(level);
		values[3] = Int64GetDatum(stats.pages);
		values[4] = Int64GetDatum(stats.entries);
		values[5] = Float8GetDatum((double) stats.entries / stats.capacity);
		values[6] = Int64GetDatum(stats.longest_run);
		nulls[6] = !is_table || level > 0;
		values[7] = Int64GetDatum(level > 0 ? 0 : build_tree_size(stats.entries));
		nulls[7] = level > 0;
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/*
 * Add a row to the result for the free pages, which are in no tree and on no level.
 */
static void
report_free_pages(int64 pages, ReturnSetInfo *result)
{
	Datum		values[STATS_COLUMNS] = {0};
	bool		nulls[STATS_COLUMNS] = {true, true, true, false, false, true, true, true};

	values[3] = Int64GetDatum(pages);
	values[4] = Int64GetDatum(0);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * simhash_index_stats(regclass): return the pages, entries, fill and skew of each level.
 * The row of a tree's leaves also has the number of pages that the tree would have after
 * REINDEX.  The owner of the index and members of pg_stat_scan_tables may call this
 * function.
 */
PG_FUNCTION_INFO_V1(simhash_index_stats);
Datum
simhash_index_stats(PG_FUNCTION_ARGS)
{
	OpenIndex	open;
	Relation	index = inspect_open_index(&open, PG_GETARG_OID(0), true);
	IndexMeta	meta = *meta_reread(index);

	InitMaterializedSRF(fcinfo, 0);
	for (int tree = 0; tree < meta.ntrees; tree++)
		report_tree(index, &meta, tree, (ReturnSetInfo *) fcinfo->resultinfo);
	report_free_pages(meta_count_free(index), (ReturnSetInfo *) fcinfo->resultinfo);
	inspect_close_index(&open);
	return (Datum) 0;
}
