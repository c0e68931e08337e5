/*
 * Opening an index and walking its levels, for functions that read a whole index
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_authid.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/access_method.h"
#include "index/inspect/inspect.h"

/*
 * Raise an error unless the relation is a valid simhash index that this session can read,
 * and the user may open it.  The owner may.  With for_monitors, a member of
 * pg_stat_scan_tables may, too.
 */
static void
check_openable(Relation index, Oid userid, bool for_monitors)
{
	if (index->rd_rel->relkind != RELKIND_INDEX ||
		index->rd_indam->ambuild != simhash_build)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a simhash index", RelationGetRelationName(index)),
				 index->rd_rel->relkind == RELKIND_INDEX ?
				 errdetail("Its access method is \"%s\".", get_am_name(index->rd_rel->relam)) : 0,
				 errhint("Name an index that was created by CREATE INDEX ... USING simhash.  For a partitioned table, name the index of a partition.")));
	if (!object_ownercheck(RelationRelationId, RelationGetRelid(index), userid) &&
		!(for_monitors && has_privs_of_role(userid, ROLE_PG_STAT_SCAN_TABLES)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of index %s", RelationGetRelationName(index)),
				 for_monitors ?
				 errhint("A member of pg_stat_scan_tables may call this function, too.") : 0));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	if (RecoveryInProgress() && !RelationIsPermanent(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary or unlogged relations during recovery")));
	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(index)),
				 errhint("Please REINDEX it.")));
}

/*
 * Open an index and its table with AccessShareLock, fill in *open, and return the index.
 * The current user is the table's owner until inspect_close_index.
 *
 * Raises an error as check_openable does.  Pass for_monitors only for reports that say nothing
 * about single rows, and do not run the owner's code.
 */
Relation
inspect_open_index(OpenIndex *open, Oid index_oid, bool for_monitors)
{
	Oid			heap_oid = IndexGetRelation(index_oid, true);

	GetUserIdAndSecContext(&open->save_userid, &open->save_sec_context);
	open->heap = NULL;
	if (OidIsValid(heap_oid))
	{
		/* lock the table before the index, as PostgreSQL does */
		open->heap = table_open(heap_oid, AccessShareLock);

		/*
		 * Switch to the owner, as maintenance commands do.  The expressions and the predicate
		 * of an index are the owner's code.  Their constant parts run as soon as PostgreSQL
		 * simplifies them.
		 */
		SetUserIdAndSecContext(open->heap->rd_rel->relowner,
							   open->save_sec_context | SECURITY_RESTRICTED_OPERATION);
		open->save_nestlevel = NewGUCNestLevel();
		RestrictSearchPath();
	}
	open->index = try_relation_open(index_oid, AccessShareLock);
	if (open->index == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("index with OID %u does not exist", index_oid)));
	check_openable(open->index, open->save_userid, for_monitors);
	if (open->heap == NULL || heap_oid != IndexGetRelation(index_oid, false))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("could not open parent table of index \"%s\"",
						RelationGetRelationName(open->index))));
	return open->index;
}

/*
 * Close the index and its table, release their locks, and restore the caller's user and
 * settings.  After an error, the abort of the transaction does the same.
 */
void
inspect_close_index(OpenIndex *open)
{
	AtEOXact_GUC(false, open->save_nestlevel);
	SetUserIdAndSecContext(open->save_userid, open->save_sec_context);
	relation_close(open->index, AccessShareLock);
	table_close(open->heap, AccessShareLock);
}

/*
 * Drop the entries less than a bound from a copy of a page, and sort the others.
 */
static void
drop_before(Page page, const Entry *bound)
{
	PageItem	items[MAX_LEAF_ENTRIES];
	int			n = page_get_items(page, items);
	int			nkept = 0;

	for (int i = 0; i < n; i++)
	{
		if (entry_compare(&items[i].entry, bound) >= 0)
			items[nkept++] = items[i];
	}
	page_sort_items(items, 0, nkept);
	page_set_items(page, items, nkept);
}

/*
 * Call `visit` for a copy of each page of a level, from left to right.  An entry that is in
 * the index during the whole walk is visited once.  Share-locks one page at a time, and no
 * page while `visit` runs.  The caller must not hold the lock of any page.
 *
 * The right sibling of a visited page may be merged into that page before the walk reads
 * the sibling.  Then the page is visited again, with only the entries of the sibling.
 */
void
inspect_walk_level(Relation index, int tree, int level, PageVisitor visit, void *arg)
{
	Entry		bound = lowest_entry;
	Buffer		buffer = descend_to(index, tree, level, &bound, BUFFER_LOCK_SHARE);
	PGAlignedBlock copy;
	Page		page = copy.data;

	for (;;)
	{
		Entry		low_key;
		PageLink	right;

		page_copy_and_release(buffer, page);
		low_key = page_low_key(page);
		if (entry_compare(&low_key, &bound) < 0)
			drop_before(page, &bound);
		visit(arg, page);
		if (page_is_rightmost(page))
			break;
		right = page_right_link(page);
		bound = right.low_key;
		buffer = descend_follow(index, &right, &bound);
	}
}
