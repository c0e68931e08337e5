/*-------------------------------------------------------------------------
 *
 * make.c
 *		What all values of an index have in common
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "utils/rel.h"

#include "index/make.h"
#include "index/tree/meta.h"
#include "index/tree/page.h"

pg_noreturn static void report_other(Relation index, const Opclass *opclass,
									 uint64 settled, uint64 make);

/*
 * Raise an error if what the metapage says is a make that no value of the operator class has.  Asked
 * for every row that is inserted, so it allocates nothing.
 */
static void
check_settled(Relation index, const Opclass *opclass, uint64 settled)
{
	const MultiKeyMethods *methods = opclass->multi_key;

	if (settled != 0 &&
		(methods == NULL || methods->make_exists == NULL || !methods->make_exists(settled)))
		page_report_corruption(index, META_BLOCK, "its make is that of other values");
}

void
make_check_stored(Relation index, const Opclass *opclass)
{
	check_settled(index, opclass, meta_get(index)->make);
}

static void
report_other(Relation index, const Opclass *opclass, uint64 settled, uint64 make)
{
	check_settled(index, opclass, settled);
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("index \"%s\" is of values of make %s, not %s",
					RelationGetRelationName(index), opclass->multi_key->make_name(settled),
					opclass->multi_key->make_name(make)),
			 errdetail("An index has one make: that of its first value."),
			 errhint("Make all values alike.  If the table has none of the old make any more, REINDEX the index.")));
}

/*
 * The make of an index; 0 if it has none yet.
 */
static uint64
settled_make(Relation index)
{
	uint64		make = meta_get(index)->make;

	/* once there is one, it stays, but others may have settled it since */
	return make != 0 ? make : meta_reread(index)->make;
}

/*
 * The same, of an index that is locked.  What the metapage says is not checked: planning
 * is no worse off with a make that there is not.
 */
uint64
make_of_index(Oid index)
{
	Relation	relation = index_open(index, NoLock);
	uint64		make = settled_make(relation);

	index_close(relation, NoLock);
	return make;
}

/*
 * Raise an error if values of a make, which is not 0, are searched for in an index of
 * another.
 */
void
make_check_search(Relation index, const Opclass *opclass, uint64 make)
{
	uint64		settled = settled_make(index);

	if (settled != 0 && settled != make)
		report_other(index, opclass, settled, make);
}

/*
 * Settle the make of an index by a value that is about to be inserted, or raise an error
 * if it has another.
 */
void
make_check_insertion(Relation index, const Opclass *opclass, uint64 make)
{
	uint64		settled = meta_get(index)->make;

	if (settled == 0)
		settled = meta_settle_make(index, make);
	if (settled != make)
		report_other(index, opclass, settled, make);
}

/*
 * The same of a value found by a build, whose participants share what is settled.
 *
 * Rows that are dead, but may still be seen by older snapshots, do not count
 * (make_add_dead): the values of a table may have been made anew in the transaction that
 * builds the index.
 */
void
make_check_build(Relation index, const Opclass *opclass, pg_atomic_uint64 *settled,
				 uint64 make)
{
	uint64		found = pg_atomic_read_u64(settled);

	if (found == 0 && pg_atomic_compare_exchange_u64(settled, &found, make))
		return;
	if (found != make)
		report_other(index, opclass, found, make);
}
