/*
 * Reports about an index: size and skew of its levels, and what a search reads
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#include "bits.h"
#include "compat.h"
#include "index/inspect/inspect.h"
#include "index/load/load.h"
#include "index/scan/scans.h"

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

#define EXPLAIN_COLUMNS		6

/*
 * simhash_index_explain(regclass, simhash, bigint): search the index within a radius in
 * bits.  Returns the number of permuted tables searched, the number of leading bits by
 * which the first of them is probed, and the numbers of probes, leaves read, entries
 * compared and matches.  Dead rows count until vacuum removes their entries.  Only the
 * owner of the index may call this function.
 */
PG_FUNCTION_INFO_V1(simhash_index_explain);
Datum
simhash_index_explain(PG_FUNCTION_ARGS)
{
	OpenIndex	open;
	Relation	index = inspect_open_index(&open, PG_GETARG_OID(0), false);
	SimHashBall ball = {.center = PG_GETARG_SIMHASH(1)};
	LeafReader	reader;
	HammingScan *scan;
	ScanKeyData key = {.sk_strategy = STRATEGY_WITHIN,.sk_attno = 1};
	int64		nmatches = 0;
	TupleDesc	desc;
	Datum		values[EXPLAIN_COLUMNS];
	bool		nulls[EXPLAIN_COLUMNS] = {0};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (opclass_of_trees(index)->multi_key)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("index \"%s\" does not contain fingerprints", RelationGetRelationName(index)),
				 errhint("Use EXPLAIN (ANALYZE, BUFFERS) to see what a search of it reads.")));
	ball.radius = simhash_clamp_radius(PG_GETARG_INT64(2));
	key.sk_argument = PointerGetDatum(&ball);
	leaf_reader_init(&reader, index);
	scan = hamming_scan_create(&reader, 1);
	if (hamming_scan_begin(scan, &key, 1, NULL))
		while (hamming_scan_next(scan))
			nmatches += reader.ntids;

	nulls[0] = nulls[1] = scan->chosen == NULL; /* no search: the radius is negative */
	if (scan->chosen)
	{
		values[0] = Int32GetDatum(probe_plan_count_tables(scan->chosen, ball.radius));
		values[1] = Int32GetDatum(scan->chosen->table[0].nbits);
	}
	values[2] = Int64GetDatum(reader.nranges_read);
	values[3] = Int64GetDatum(reader.nleaves);
	values[4] = Int64GetDatum(scan->nentries);
	values[5] = Int64GetDatum(nmatches);

	hamming_scan_end(scan);
	inspect_close_index(&open);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}
