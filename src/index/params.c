/*-------------------------------------------------------------------------
 *
 * params.c
 *		Parameters that all values of an index must have
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "index/params.h"
#include "index/tree/meta.h"
#include "index/tree/page.h"

/*
 * Return the table whose column the user would have to alter.  For a partition, this is
 * the topmost partitioned table.  A partition that is being detached has no ancestors,
 * and is returned itself.
 */
static Oid
table_to_alter(Oid table)
{
	List	   *ancestors = get_rel_relispartition(table) ? get_partition_ancestors(table) : NIL;

	return ancestors != NIL ? llast_oid(ancestors) : table;
}

/*
 * Return the name of a table, qualified with its schema and quoted.  The schema is
 * needed, because the search path may not be the user's.  PostgreSQL sets the search path
 * while it builds indexes, and a dump sets it, too.
 */
static char *
qualified_name(Oid table)
{
	return quote_qualified_identifier(get_namespace_name_or_temp(get_rel_namespace(table)),
									  get_rel_name(table));
}

/*
 * Return true if an index is on a column whose type ALTER TABLE can change.  It cannot
 * change the columns of materialized views and typed tables, nor inherited columns.  The
 * columns of a partition are those of the topmost table.
 */
static bool
can_alter_column(Relation index)
{
	AttrNumber	column = index->rd_index->indkey.values[0];
	Relation	table;
	bool		result;

	if (column == InvalidAttrNumber)
		return false;
	table = table_open(index->rd_index->indrelid, NoLock);
	result = table->rd_rel->relkind != RELKIND_MATVIEW &&
		!OidIsValid(table->rd_rel->reloftype) &&
		(table->rd_rel->relispartition ||
		 TupleDescAttr(RelationGetDescr(table), column - 1)->attinhcount == 0);
	table_close(table, NoLock);
	return result;
}

/*
 * Raise an error for an index whose column or expression has no valid parameters.  The
 * hint shows how to write parameters.
 */
pg_noreturn static void
report_missing(Relation index, const Opclass *opclass)
{
	Oid			table = table_to_alter(index->rd_index->indrelid);
	char	   *type = format_type_with_typemod(index->rd_opcintype[0],
												opclass->params->example);
	char	   *column = pg_get_indexdef_columns(RelationGetRelid(index), false);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("index \"%s\" cannot be built without the parameters of its values",
					RelationGetRelationName(index)),
			 can_alter_column(index) ?
			 errhint("Write them as a type modifier, for example ALTER TABLE %s ALTER COLUMN %s TYPE %s.",
					 qualified_name(table), column, type) :
			 errhint("Write them as a type modifier, for example USING simhash ((%s::%s)).",
					 column, type)));
}

/*
 * Return the parameters of the indexed column or expression: its type modifier, or the
 * type modifier of the base type if its type is a domain.  Returns NO_PARAMS if the
 * values of the Opclass have no parameters.  Raises an error if the type modifier is
 * missing or invalid.
 */
int32
params_of_column(Relation index, const Opclass *opclass)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), 0);
	int32		params = column->atttypmod;

	if (opclass->params == NULL)
		return NO_PARAMS;
	(void) getBaseTypeAndTypmod(column->atttypid, &params);
	if (!opclass->params->are_valid(params))
		report_missing(index, opclass);
	return params;
}

/*
 * Return the parameters of an index.  The caller must hold a lock on the index.  Does not
 * check the parameters, because the planner tolerates invalid ones.
 */
int32
params_of_index(Oid index)
{
	Relation	relation = index_open(index, NoLock);
	int32		params = meta_get(relation)->params;

	index_close(relation, NoLock);
	return params;
}

/*
 * Raise an error if the metapage has parameters that no value of the Opclass can have.
 * This is called for every row inserted, so it allocates no memory.
 */
void
params_check_stored(Relation index, const Opclass *opclass)
{
	int32		params = meta_get(index)->params;

	if (opclass->params ? !opclass->params->are_valid(params) : params != NO_PARAMS)
		page_report_corruption(index, META_BLOCK, "its parameters are those of other values");
}

/*
 * Raise the error for a value whose parameters, `found`, differ from the parameters of
 * the index, `params`.
 */
void
params_report_other(Relation index, const Opclass *opclass, int32 params, int32 found)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("index \"%s\" contains signatures with parameters %s, but the value has %s",
					RelationGetRelationName(index), opclass->params->name(params),
					opclass->params->name(found)),
			 errhint("Make the value with the parameters of the index, or create an index of other signatures.")));
}
