/*
 * What a join keeps of an input: entries, tuples and values
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_STORE_H
#define SIMHASH_STORE_H

#include "executor/tuptable.h"
#include "nodes/plannodes.h"

#include "join/store/entries.h"

/*
 * The rows of an input, or a chunk of them.  A row has a tuple and any number of entries,
 * all with the row's number.
 */
typedef struct JoinStore
{
	MemoryContext context;		/* context of everything below */
	JoinEntries entries;
	JoinTuples	tuples;
	JoinTuples	values;			/* values for verify(), if they are stored apart from the
								 * tuples */
	bool		keeps_tuples;	/* false if the join needs only the entries */
	int			value_column;	/* index of the column of values if the tuples do not have
								 * it, else -1 */
	TupleTableSlot *narrow;		/* slot for a row without this column */
	uint32		ntuples_written;	/* number of loaded entries, the first ones, whose tuples are
								 * in the file */
	uint64		nrows;			/* number of rows */
	EntryReader *partition;		/* readers of the partitions of the current round */
	JoinTuples	blocks;			/* blocks of the entries that were written to partitions */
} JoinStore;

extern void join_store_close(JoinStore *store);
extern void join_store_reset(JoinStore *store, Size limit, Size capacity, EntrySize entry_size);
extern void join_store_share(JoinStore *store, SharedArenas *arenas, FileSet *fileset,
							 bool is_left, int own, int n);
extern void join_store_export(JoinStore *store);
extern uint64 join_store_disk(const JoinStore *store);
extern int	join_value_column(const Plan *plan, List *clauses, const Expr *key, int first_column,
							  bool is_self);
extern TupleLocation join_append_value(JoinStore *store, TupleTableSlot *slot, const void *value,
									   Size size);
extern TupleLocation join_store_value(JoinStore *store, TupleTableSlot *slot, const void *value,
									  Size size);
extern const void *join_fetch_value(JoinStore *store, TupleTableSlot *slot);

#endif							/* SIMHASH_STORE_H */
