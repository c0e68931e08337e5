/*
 * The window function simhash_cluster
 *
 * The first call in a partition reads all rows of the partition and finds their clusters.
 * Later calls look up the result.  Rows are read in one pass forward, since the partition
 * may be in a file, where access to another row takes time in proportion to its distance.
 * The mark of the window object is never moved for the same reason.  Moving it would read
 * the rows in between.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"
#include "utils/memutils.h"
#include "windowapi.h"

#include "compat.h"
#include "corpus/clustering.h"
#include "functions/arguments.h"
#include "type/simhash_type.h"

PG_FUNCTION_INFO_V1(simhash_cluster);

/* Argument numbers. */
enum
{
	ARGUMENT_FP,
	ARGUMENT_RADIUS,
	ARGUMENT_METHOD
};

/*
 * Maximum number of rows.  A row number must not use the bit ROW_MARK, and must fit into
 * the int of the executor.
 */
#define MAX_ROWS		Min(ROW_MARK - 1, MaxAllocHugeSize / sizeof(SimHash))

/*
 * State of reading a partition's arguments.
 */
typedef struct Reader
{
	WindowObject window;
	MemoryContext context;		/* context that is reset after each row, for memory that
								 * the argument expressions do not free */
	int			row;			/* number of the current row, from 0 */
	bool		radius_varies;	/* true if the radius may differ between rows */
	bool		method_varies;
} Reader;

/*
 * Return an argument of the current row.
 */
static Datum
get_argument(Reader *reader, int argument, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(reader->context);
	Datum		value = WinGetFuncArgInPartition(reader->window, argument, reader->row,
												 WINDOW_SEEK_HEAD, false, isnull, NULL);

	MemoryContextSwitchTo(old);
	return value;
}

/*
 * Return the radius of the current row, in bits.  Raises an error if it is NULL or no whole
 * number from 0 to SIMHASH_BITS.
 */
static int
get_radius(Reader *reader)
{
	bool		isnull;
	Datum		datum = get_argument(reader, ARGUMENT_RADIUS, &isnull);
	float8		radius;

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("cluster radius must not be null"),
				 errhint("A radius is a number of bits, 0 to %d.", SIMHASH_BITS)));
	radius = DatumGetFloat8(datum);
	if (!(radius >= 0 && radius <= SIMHASH_BITS && radius == floor(radius)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid cluster radius: %.15g", radius),
				 errhint("A radius is a whole number of bits, 0 to %d.", SIMHASH_BITS)));
	return (int) radius;
}

/*
 * Return true if the method of the current row is the leader algorithm, false if it is single
 * linkage or NULL.  Raises an error if there is no such method.
 */
static bool
get_by_leader(Reader *reader)
{
	bool		isnull;
	Datum		datum = get_argument(reader, ARGUMENT_METHOD, &isnull);
	static const char *const methods[] = {"single", "leader"};

	if (isnull)
		return false;
	return get_name(DatumGetTextPP(datum), methods, lengthof(methods), "cluster method",
					"Available methods are \"single\" and \"leader\".") == 1;
}

/*
 * Raise an error unless the current row has this radius and this method.  Both arguments
 * may be expressions, for example of the columns of PARTITION BY, but must be the same in
 * all rows of a partition.
 */
static void
check_settings(Reader *reader, int radius, bool by_leader)
{
	if (reader->radius_varies && get_radius(reader) != radius)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cluster radius differs between rows of a partition"),
				 errhint("Use a constant, or add the expression to PARTITION BY.")));
	if (reader->method_varies && get_by_leader(reader) != by_leader)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cluster method differs between rows of a partition"),
				 errhint("Use a constant, or add the expression to PARTITION BY.")));
}

/*
 * Read the rows of a partition.  Each row with a fingerprint becomes a member, and the
 * first row of a cluster of its own.  Returns the number of members.
 */
static uint32
read_partition(Reader *reader, int nrows, int radius, bool by_leader, Members *members,
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
			members->tag[n++] = reader->row;
		}
		check_settings(reader, radius, by_leader);
		MemoryContextReset(reader->context);
	}
	return n;
}

/*
 * Read the partition and find its clusters.  Returns by row the first row of its cluster, or
 * NO_ROW if the row has no fingerprint.  Allocates that in the current memory context, and frees
 * everything else.  Raises an error if the partition has more than MAX_ROWS rows.
 */
static uint32 *
find_clusters(Reader *reader)
{
	int64		nrows = WinGetPartitionRowCount(reader->window);
	int			radius = get_radius(reader);
	bool		by_leader = get_by_leader(reader);
	Members		members;
	uint32	   *first;
	uint32		n;

	if (nrows > MAX_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("partition of " INT64_FORMAT " rows is too large to cluster",
						nrows),
				 errdetail("A partition can have at most %lld rows.", (long long) MAX_ROWS),
				 errhint("Add PARTITION BY to the window.")));
	first = palloc_extended(nrows * sizeof(uint32), MCXT_ALLOC_HUGE);
	members.fp = palloc_extended(nrows * sizeof(SimHash), MCXT_ALLOC_HUGE);
	members.tag = palloc_extended(nrows * sizeof(uint32), MCXT_ALLOC_HUGE);
	members.scratch = palloc_extended(nrows * sizeof(SimHash), MCXT_ALLOC_HUGE);

	members.seed = pg_prng_uint64(&pg_global_prng_state);
	n = read_partition(reader, nrows, radius, by_leader, &members, first);
	cluster_equal(&members, &n, first, nrows);
	if (by_leader)
		cluster_leader(&members, n, radius, first, nrows);
	else
	{
		cluster_single(&members, n, radius, first);
		cluster_roots(first, nrows);
	}
	pfree(members.fp);
	pfree(members.tag);
	pfree(members.scratch);
	return first;
}

/*
 * simhash_cluster(fp simhash, radius double precision, method text DEFAULT 'single')
 *
 * Returns the number of the first row of the current row's cluster.  Rows are numbered
 * from 1, in the order of the window.  Returns NULL for a row without a fingerprint.
 */
Datum
simhash_cluster(PG_FUNCTION_ARGS)
{
	WindowObject window = PG_WINDOW_OBJECT();
	uint32	  **first;			/* by row; NULL until the rows are read */
	int64		row = WinGetCurrentPosition(window);

	WinCheckAndInitializeNullTreatment(window, false, fcinfo);
	first = WinGetPartitionLocalMemory(window, sizeof(uint32 *));
	if (*first == NULL)
	{
		Reader		reader = {
			.window = window,
			.radius_varies = !get_fn_expr_arg_stable(fcinfo->flinfo, ARGUMENT_RADIUS),
			.method_varies = !get_fn_expr_arg_stable(fcinfo->flinfo, ARGUMENT_METHOD)
		};
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(first));

		reader.context = AllocSetContextCreate(CurrentMemoryContext,
											   "simhash_cluster arguments",
											   ALLOCSET_SMALL_SIZES);
		*first = find_clusters(&reader);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(reader.context);
	}
	if ((*first)[row] == NO_ROW)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) (*first)[row] + 1);
}
