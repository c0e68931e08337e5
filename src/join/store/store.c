/*
 * What a join keeps of an input: entries, tuples and values
 *
 * Some methods store the value that a row is joined by, either apart from the row's tuple, or at
 * its end.  If no clause and no output needs the column of values, the tuple has a NULL instead.
 * A value that is stored apart is fetched only if the cheap clauses hold for a pair.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

#include "join/store/store.h"

/*
 * Free the rows, and delete their files.
 */
void
join_store_close(JoinStore *store)
{
	join_tuples_close(&store->tuples);
	join_tuples_close(&store->values);
	join_tuples_close(&store->blocks);
	join_entries_close(&store->entries);
	MemoryContextReset(store->context);
	store->ntuples_written = store->nrows = 0;
	store->partition = NULL;
}

/*
 * Free the rows, and prepare to keep others.  Tuples and values use at most `limit` bytes
 * of memory each, or any number of bytes if limit is 0.  See join_entries_init() for
 * `capacity` and entry_size.
 */
void
join_store_reset(JoinStore *store, Size limit, Size capacity, EntrySize entry_size)
{
	join_store_close(store);
	join_tuples_init(&store->tuples, store->context, limit);
	join_tuples_init(&store->values, store->context, limit);
	join_tuples_init(&store->blocks, store->context, 0);
	join_entries_init(&store->entries, store->context, capacity, entry_size);
}

/*
 * Put tuples, values and entries into shared memory and files of a parallel join.  Call it after
 * join_store_reset().
 */
void
join_store_share(JoinStore *store, SharedArenas *arenas, FileSet *fileset, bool is_left, int own,
				 int n)
{
	join_tuples_share(&store->tuples, arenas, fileset, "tuples", is_left, own, n);
	join_tuples_share(&store->values, arenas, fileset, "values", is_left, own, n);
	join_tuples_share(&store->blocks, arenas, fileset, "entries", is_left, own, n);
}

/*
 * Let the other participants read the files.
 */
void
join_store_export(JoinStore *store)
{
	shared_files_export(&store->tuples.shared);
	shared_files_export(&store->values.shared);
	shared_files_export(&store->blocks.shared);
}

/*
 * Return the size of the files, in bytes.
 */
uint64
join_store_disk(const JoinStore *store)
{
	const JoinTuples *spilled = store->entries.spilled;

	return store->tuples.file_size + store->values.file_size + store->blocks.file_size +
		(spilled ? spilled->file_size : 0);
}

/*
 * Return the index of the column of an input that has the values.  Returns -1 if the key is
 * an expression, or if the plan node's output, its filter or `clauses` need the column, too.  In
 * a self-join, is_self, column i of the left side is column first_column + i of the right one.
 */
int
join_value_column(const Plan *plan, List *clauses, const Expr *key, int first_column,
				  bool is_self)
{
	Bitmapset  *columns = NULL;
	AttrNumber	attno;

	if (!IsA(key, Var))
		return -1;
	attno = ((const Var *) key)->varattno;
	pull_varattnos((Node *) plan->targetlist, INDEX_VAR, &columns);
	pull_varattnos((Node *) plan->qual, INDEX_VAR, &columns);
	pull_varattnos((Node *) clauses, INDEX_VAR, &columns);
	if (bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, columns) ||
		(is_self && bms_is_member(attno - first_column - FirstLowInvalidHeapAttributeNumber, columns)))
		return -1;
	return attno - 1 - first_column;
}

/*
 * Store the tuple of a row, which ends with a copy of a value of `size` bytes.  Returns its
 * location.  Allocates in the current memory context.
 */
TupleLocation
join_append_value(JoinStore *store, TupleTableSlot *slot, const void *value, Size size)
{
	MinimalTuple tuple;
	MinimalTuple result;
	Size		tuple_size;
	bool		free_tuple;

	if (store->value_column >= 0)
	{
		TupleTableSlot *narrow = ExecClearTuple(store->narrow);
		int			natts = narrow->tts_tupleDescriptor->natts;

		memcpy(narrow->tts_values, slot->tts_values, natts * sizeof(Datum));
		memcpy(narrow->tts_isnull, slot->tts_isnull, natts * sizeof(bool));
		narrow->tts_isnull[store->value_column] = true;
		slot = ExecStoreVirtualTuple(narrow);
	}
	tuple = ExecFetchSlotMinimalTuple(slot, &free_tuple);
	tuple_size = MAXALIGN(tuple->t_len);
	result = palloc_extended(tuple_size + size, MCXT_ALLOC_HUGE);
	memcpy(result, tuple, tuple->t_len);
	memset((char *) result + tuple->t_len, 0, tuple_size - tuple->t_len);
	memcpy((char *) result + tuple_size, value, size);
	result->t_len = tuple_size + size;
	return join_tuples_put(&store->tuples, result);
}

/*
 * Store a copy of the value of a row, which begins with a varlena header, and the row's
 * tuple, which ends with the location of the value.  Returns the location of the tuple.
 * Allocates in the current memory context.
 */
TupleLocation
join_store_value(JoinStore *store, TupleTableSlot *slot, const void *value, Size size)
{
	char	   *copy = palloc(size);
	TupleLocation location;

	memcpy(copy, value, size);
	/* as a tuple does, it begins with its size in bytes */
	memcpy(copy, &(uint32) {size}, sizeof(uint32));
	location = join_tuples_put(&store->values, (MinimalTuple) copy);
	return join_append_value(store, slot, &location, sizeof(location));
}

/*
 * Return the value of the stored tuple in a slot.  Its header is the size in bytes.
 */
const void *
join_fetch_value(JoinStore *store, TupleTableSlot *slot)
{
	bool		free_tuple;
	MinimalTuple tuple = ExecFetchSlotMinimalTuple(slot, &free_tuple);
	TupleLocation location;

	memcpy(&location, (char *) tuple + tuple->t_len - sizeof(location), sizeof(location));
	Assert(!free_tuple);
	return join_tuples_fetch(&store->values, location);
}
