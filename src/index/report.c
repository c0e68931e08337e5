/*-------------------------------------------------------------------------
 *
 * report.c
 *		Opening an index for the functions that look at it as a whole
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "catalog/pg_am.h"
#include "catalog/pg_authid.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/report.h"

/*
 * Open an index with AccessShareLock, for its owner or, if the report says nothing
 * about single rows, a member of pg_stat_scan_tables.
 */
Relation
report_open_index(Oid index_oid, bool for_monitors)
{
	Relation	index = relation_open(index_oid, AccessShareLock);

	if (index->rd_rel->relkind != RELKIND_INDEX ||
		index->rd_rel->relam != get_index_am_oid("simhash", true))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a simhash index", RelationGetRelationName(index)),
				 errhint("Name an index that was created by CREATE INDEX ... USING simhash; for a partitioned table, the index of a partition.")));
	if (!user_owns_relation(index_oid, GetUserId()) &&
		!(for_monitors && has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES)))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, RelationGetRelationName(index));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(index)),
				 errhint("Please REINDEX it.")));
	return index;
}

/*
 * The leftmost page of a level; it never changes.
 */
BlockNumber
report_leftmost(Relation index, const IndexMeta *meta, int tree, int level)
{
	BlockNumber block = meta->root[tree].block;

	for (int at = meta->root[tree].level; at > level; at--)
	{
		Buffer		buffer = page_read(index, block, BUFFER_LOCK_SHARE, tree, at);

		block = inner_child(BufferGetPage(buffer), 0);
		UnlockReleaseBuffer(buffer);
	}
	return block;
}

/*
 * Visit the pages of a level from the leftmost one on.
 */
void
report_walk_level(Relation index, int tree, int level, BlockNumber leftmost,
				  PageVisitor visit, void *arg)
{
	Buffer		buffer = page_read(index, leftmost, BUFFER_LOCK_SHARE, tree, level);

	for (;;)
	{
		visit(arg, index, buffer);
		if (page_is_rightmost(BufferGetPage(buffer)))
			break;
		buffer = page_step_right(index, buffer, BUFFER_LOCK_SHARE);
	}
	UnlockReleaseBuffer(buffer);
}
