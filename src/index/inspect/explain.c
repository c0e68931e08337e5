/*-------------------------------------------------------------------------
 *
 * explain.c
 *		simhash_index_explain: what a search of an index reads
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "funcapi.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/access_method.h"
#include "index/inspect/inspect.h"
#include "index/scan/scan.h"
#include "index/strategy.h"

#define EXPLAIN_COLUMNS		6

/*
 * simhash_index_explain(regclass, simhash, bigint): search the index within the
 * radius, and say how.  Rows that no longer exist count as long as the index has
 * them.
 */
PG_FUNCTION_INFO_V1(simhash_index_explain);
Datum
simhash_index_explain(PG_FUNCTION_ARGS)
{
	OpenIndex	open;
	Relation	index = inspect_open_index(&open, PG_GETARG_OID(0), false);
	SimHashBall ball = {.center = PG_GETARG_SIMHASH(1)};
	IndexScanDesc scan = simhash_beginscan(index, 1, 0);
	SimHashScan *state = scan->opaque;
	ScanKeyData key = {.sk_strategy = STRATEGY_WITHIN,.sk_attno = 1};
	int64		nmatches = 0;
	TupleDesc	desc;
	Datum		values[EXPLAIN_COLUMNS];
	bool		nulls[EXPLAIN_COLUMNS] = {0};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (state->opclass->multi_key)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("index \"%s\" is not of fingerprints", RelationGetRelationName(index)),
				 errhint("EXPLAIN (ANALYZE, BUFFERS) tells what a search of it reads.")));
	ball.radius = simhash_clamp_radius(PG_GETARG_INT64(2));
	key.sk_argument = PointerGetDatum(&ball);
	simhash_rescan(scan, &key, 1, NULL, 0);
	while (scan_next_matches(scan, false))
		nmatches += state->nmatches;

	nulls[0] = nulls[1] = state->chosen == NULL;	/* an empty ball */
	if (state->chosen)
	{
		values[0] = Int32GetDatum(cover_count_tables(state->chosen, ball.radius));
		values[1] = Int32GetDatum(state->chosen->table[0].nbits);
	}
	values[2] = Int64GetDatum(state->nprobes);
	values[3] = Int64GetDatum(state->npages);
	values[4] = Int64GetDatum(state->nentries);
	values[5] = Int64GetDatum(nmatches);

	simhash_endscan(scan);
	inspect_close_index(&open);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}
