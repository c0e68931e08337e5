/*
 * simhash_index_explain: what a search of an index reads
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/inspect/inspect.h"
#include "index/scan/scans.h"
#include "type/strategy.h"

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
