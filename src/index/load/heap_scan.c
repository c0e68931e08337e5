/*
 * Scan of a heap for the keys of its rows
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "index/load/load.h"
#include "index/opclass.h"

/* State of a heap scan, for its callback. */
typedef struct HeapScan
{
	const Opclass *opclass;
	int32		params;
	AddKey		add;
	void	   *arg;
	double		nrows;			/* number of rows that belong in the index */
} HeapScan;

/*
 * Pass the keys of a row, or the key of its placeholder, to scan->add (an
 * IndexBuildCallback).  Raises an error if the parameters of the row's value differ from
 * those of the index.
 */
static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	HeapScan   *scan = arg;
	KeySet		keys;

	opclass_extract_value(scan->opclass, values[0], isnull[0], &keys);
	params_check(index, scan->params, keys.params);
	for (int i = 0; i < keys.n; i++)
		scan->add(scan->arg, keys.is_placeholder, keys.key[i], tid);
	key_set_free(&keys);
	scan->nrows++;
}

/*
 * Scan a heap, and call `add` for each key of each row that belongs in the index.  All
 * values must have these parameters.  Reports the progress of the scan if `progress` is
 * true.  `scan` may be NULL, for a scan of the whole heap.  Returns the number of heap
 * rows, and sets *nindexed to the number of rows that belong in the index.
 */
double
heap_scan_keys(Relation heap, Relation index, IndexInfo *info, int32 params, bool progress,
			   TableScanDesc scan, AddKey add, void *arg, double *nindexed)
{
	HeapScan	state = {opclass_of_index(index), params, add, arg, 0};
	double		nrows;

	nrows = table_index_build_scan(heap, index, info, true, progress, add_row, &state, scan);
	*nindexed = state.nrows;
	return nrows;
}
