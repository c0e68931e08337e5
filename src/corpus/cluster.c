/*-------------------------------------------------------------------------
 *
 * cluster.c
 *		The window function simhash_cluster
 *
 * The first call in a partition reads all of its rows and finds their clusters; the
 * others look the answer up.  Rows are read in one pass forward, because the partition
 * may be in a file, where going to another row costs the distance to it.  For the same
 * reason the mark is never moved: that reads the rows that it passes.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "windowapi.h"

#include "compat.h"
#include "corpus/clustering.h"
#include "functions/arguments.h"
#include "type/simhash_type.h"

PG_FUNCTION_INFO_V1(simhash_cluster);

/* Numbers of arguments. */
enum
{
	ARGUMENT_FP,
	ARGUMENT_RADIUS,
	ARGUMENT_METHOD
};

typedef enum ClusterMethod
{
	METHOD_SINGLE,
	METHOD_LEADER
} ClusterMethod;

/* Numbers of rows leave a bit for a mark, and fit into the executor's int. */
#define MAX_ROWS		Min(ROW_MARK - 1, MaxAllocHugeSize / sizeof(SimHash))

/*
 * The clusters of a partition; all of it is zero before they are found.
 */
typedef struct Clusters
{
	MemoryContext context;		/* of `first` */
	uint32	   *first;			/* of each row, the first row of its cluster; NO_ROW for
								 * none */
} Clusters;

/*
 * Reading a partition's arguments.
 */
typedef struct Reader
{
	WindowObject window;
	MemoryContext context;		/* for what expressions leave behind */
	int			row;			/* that is read */
	bool		radius_varies;	/* it may, from row to row */
	bool		method_varies;
} Reader;

static Datum
get_argument(Reader *reader, int argument, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(reader->context);
	Datum		value = WinGetFuncArgInPartition(reader->window, argument, reader->row,
												 WINDOW_SEEK_HEAD, false, isnull, NULL);

	MemoryContextSwitchTo(old);
	return value;
}

static int
get_radius(Reader *reader)
{
	bool		isnull;
	Datum		datum = get_argument(reader, ARGUMENT_RADIUS, &isnull);
	int64		radius;

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("cluster radius must not be null"),
				 errhint("A radius is a number of bits, 0 to %d.", SIMHASH_BITS)));
	radius = DatumGetInt64(datum);
	if (radius < 0 || radius > SIMHASH_BITS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cluster radius %lld is out of range", (long long) radius),
				 errhint("A radius is a number of bits, 0 to %d.", SIMHASH_BITS)));
	return radius;
}

static ClusterMethod
get_method(Reader *reader)
{
	bool		isnull;
	Datum		datum = get_argument(reader, ARGUMENT_METHOD, &isnull);
	text	   *method;

	if (isnull)
		return METHOD_SINGLE;
	method = DatumGetTextPP(datum);
	if (text_is(method, "single"))
		return METHOD_SINGLE;
	if (text_is(method, "leader"))
		return METHOD_LEADER;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized cluster method \"%s\"",
					simhash_excerpt(VARDATA_ANY(method), VARSIZE_ANY_EXHDR(method))),
			 errhint("Available methods are \"single\" and \"leader\".")));
}

/*
 * The radius and the method may be expressions, of the columns of PARTITION BY for
 * example; but they have to be the same in all rows of a partition.
 */
static void
check_settings(Reader *reader, int radius, ClusterMethod method)
{
	if (reader->radius_varies && get_radius(reader) != radius)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cluster radius differs between rows of a partition"),
				 errhint("Use a constant, or add the expression to PARTITION BY.")));
	if (reader->method_varies && get_method(reader) != method)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cluster method differs between rows of a partition"),
				 errhint("Use a constant, or add the expression to PARTITION BY.")));
}

/*
 * Read the rows of a partition.  Those with a fingerprint become members, each a
 * cluster of its own.  Returns their number.
 */
static uint32
read_partition(Reader *reader, int nrows, int radius, ClusterMethod method, Members *members,
			   uint32 *first)
{
	uint32		n = 0;

	for (reader->row = 0; reader->row < nrows; reader->row++)
	{
		bool		isnull;
		Datum		datum = get_argument(reader, ARGUMENT_FP, &isnull);

		first[reader->row] = isnull ? NO_ROW : reader->row;
		if (!isnull)
		{
			members->fp[n] = DatumGetSimHash(datum);
			members->row[n++] = reader->row;
		}
		check_settings(reader, radius, method);
		MemoryContextReset(reader->context);
	}
	return n;
}

/*
 * Find the clusters of the rows that the reader reads.
 */
static void
find_clusters(Clusters *clusters, Reader *reader)
{
	int64		nrows = WinGetPartitionRowCount(reader->window);
	int			radius = get_radius(reader);
	ClusterMethod method = get_method(reader);
	Members		members;
	uint32		n;

	if (nrows > MAX_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a partition of " INT64_FORMAT " rows is too large to be clustered",
						nrows),
				 errdetail("A partition may have %lld rows.", (long long) MAX_ROWS),
				 errhint("Add PARTITION BY to the window.")));
	clusters->first = palloc_extended(nrows * sizeof(uint32), MCXT_ALLOC_HUGE);
	members.fp = palloc_extended(nrows * sizeof(SimHash), MCXT_ALLOC_HUGE);
	members.row = palloc_extended(nrows * sizeof(uint32), MCXT_ALLOC_HUGE);
	members.scratch = palloc_extended(nrows * sizeof(SimHash), MCXT_ALLOC_HUGE);

	members.seed = pg_prng_uint64(&pg_global_prng_state);
	n = read_partition(reader, nrows, radius, method, &members, clusters->first);
	cluster_equal(&members, &n, clusters->first, nrows);
	if (method == METHOD_SINGLE)
	{
		cluster_single(&members, n, radius, clusters->first);
		cluster_roots(clusters->first, nrows);
	}
	else
		cluster_leader(&members, n, radius, clusters->first, nrows);
	pfree(members.fp);
	pfree(members.row);
	pfree(members.scratch);
}

/*
 * simhash_cluster(fp simhash, radius bigint, method text DEFAULT 'single')
 *
 * The number, in the window's order, of the first row of the row's cluster.
 */
Datum
simhash_cluster(PG_FUNCTION_ARGS)
{
	WindowObject window = PG_WINDOW_OBJECT();
	Clusters   *clusters;
	int64		row = WinGetCurrentPosition(window);

	reject_null_treatment(window, fcinfo);
	clusters = WinGetPartitionLocalMemory(window, sizeof(Clusters));
	if (clusters->context == NULL)
	{
		Reader		reader = {
			.window = window,
			.radius_varies = !get_fn_expr_arg_stable(fcinfo->flinfo, ARGUMENT_RADIUS),
			.method_varies = !get_fn_expr_arg_stable(fcinfo->flinfo, ARGUMENT_METHOD)
		};
		MemoryContext old;

		clusters->context = AllocSetContextCreate(GetMemoryChunkContext(clusters),
												  "simhash_cluster", ALLOCSET_SMALL_SIZES);
		reader.context = AllocSetContextCreate(clusters->context,
											   "simhash_cluster arguments",
											   ALLOCSET_SMALL_SIZES);
		old = MemoryContextSwitchTo(clusters->context);
		find_clusters(clusters, &reader);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(reader.context);
	}
	if (clusters->first[row] == NO_ROW)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) clusters->first[row] + 1);
}
