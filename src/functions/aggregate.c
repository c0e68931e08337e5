/*
 * simhash_agg: the fingerprint of features in rows
 *
 * The state is an accumulator.  Its sums are integers, so neither the order of the rows
 * nor the number of workers changes the result.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "libpq/pqformat.h"

#include "compat.h"
#include "functions/arguments.h"
#include "type/simhash_type.h"

/*
 * Allocate an empty state in the aggregate's memory context.
 */
static Accumulator *
new_state(FunctionCallInfo fcinfo)
{
	MemoryContext context;
	Accumulator *acc;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	acc = MemoryContextAlloc(context, sizeof(Accumulator));
	accumulator_init(acc);
	return acc;
}

/*
 * simhash_agg(feature) and simhash_agg(feature, weight)
 *
 * Transition function.  Ignores rows in which an argument is NULL, as other aggregates
 * do.
 */
PG_FUNCTION_INFO_V1(simhash_agg_transition);
Datum
simhash_agg_transition(PG_FUNCTION_ARGS)
{
	Accumulator *acc = PG_ARGISNULL(0) ? new_state(fcinfo) :
		(Accumulator *) PG_GETARG_POINTER(0);
	bool		weighted = PG_NARGS() > 2;

	if (!PG_ARGISNULL(1) && !(weighted && PG_ARGISNULL(2)))
	{
		uint64		hash = hash_text(PG_GETARG_TEXT_PP(1));

		if (weighted)
			add_feature(acc, hash, PG_GETARG_FLOAT8(2));
		else
			accumulator_add(acc, hash);
	}
	PG_RETURN_POINTER(acc);
}

PG_FUNCTION_INFO_V1(simhash_agg_combine);
Datum
simhash_agg_combine(PG_FUNCTION_ARGS)
{
	Accumulator *acc = PG_ARGISNULL(0) ? new_state(fcinfo) :
		(Accumulator *) PG_GETARG_POINTER(0);

	if (!PG_ARGISNULL(1) &&
		!accumulator_merge(acc, (Accumulator *) PG_GETARG_POINTER(1)))
		report_weights_overflow();
	PG_RETURN_POINTER(acc);
}

PG_FUNCTION_INFO_V1(simhash_agg_serialize);
Datum
simhash_agg_serialize(PG_FUNCTION_ARGS)
{
	Accumulator *acc = (Accumulator *) PG_GETARG_POINTER(0);
	StringInfoData buf;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");
	accumulator_fold_counts(acc);
	pq_begintypsend(&buf);
	for (int bit = 0; bit < SIMHASH_BITS; bit++)
		pq_sendint64(&buf, acc->sum[bit]);
	pq_sendint64(&buf, acc->total);
	pq_sendint64(&buf, acc->magnitude);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

PG_FUNCTION_INFO_V1(simhash_agg_deserialize);
Datum
simhash_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	Accumulator *acc;
	StringInfoData buf;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");

	initStringInfo(&buf);
	appendBinaryStringInfo(&buf, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));

	acc = palloc(sizeof(Accumulator));
	accumulator_init(acc);
	for (int bit = 0; bit < SIMHASH_BITS; bit++)
		acc->sum[bit] = pq_getmsgint64(&buf);
	acc->total = pq_getmsgint64(&buf);
	acc->magnitude = pq_getmsgint64(&buf);
	pq_getmsgend(&buf);
	pfree(buf.data);
	PG_RETURN_POINTER(acc);
}

PG_FUNCTION_INFO_V1(simhash_agg_final);
Datum
simhash_agg_final(PG_FUNCTION_ARGS)
{
	SimHash		fp;

	if (PG_ARGISNULL(0) ||
		!accumulator_fingerprint((Accumulator *) PG_GETARG_POINTER(0), &fp))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(fp);
}
