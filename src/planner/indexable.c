/*-------------------------------------------------------------------------
 *
 * indexable.c
 *		Which indexes can serve a comparison, and what else may want it as it is
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_statistic_ext.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "planner/planner.h"

/* --- a table's own indexes ------------------------------------------------- */

/*
 * Whether any index of the table has an operator class that is not built in:
 * a cheap test that spares most tables all else.
 */
bool
indexable_family_seen(RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);

		for (int i = 0; i < index->nkeycolumns; i++)
			if (index->opfamily[i] >= FirstNormalObjectId)
				return true;
	}
	return false;
}

static bool
indexable_by_own(PlannerInfo *root, RelOptInfo *rel, Oid in_ball,
				 Node *column, Node *center, Node *bound)
{
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);

		for (int i = 0; i < index->nkeycolumns; i++)
			if (op_in_opfamily(in_ball, index->opfamily[i]) &&
				match_index_to_operand(column, i, index) &&
				is_pseudo_constant_for_index(root, center, index) &&
				is_pseudo_constant_for_index(root, bound, index))
				return true;
	}
	return false;
}

/* --- indexes of a parent's children ---------------------------------------- */

/*
 * A parent's children are not known to the planner yet, and it will not even
 * lock those that it can prune.  So this reads catalogs and opens no table.
 * That an index may vanish in between does no harm.
 */
typedef struct ChildKey
{
	Oid			parent;
	Oid			child;
	Index		varno;			/* of the parent */
} ChildKey;

/*
 * Put an index expression of the child in terms of the parent.
 */
static Node *
child_to_parent(Node *node, void *context)
{
	ChildKey   *key = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *var = copyObject((Var *) node);
		char	   *name = get_attname(key->child, var->varattno, true);

		var->varno = key->varno;
		var->varattno = name ? get_attnum(key->parent, name) : InvalidAttrNumber;
		return (Node *) var;
	}
	return expression_tree_mutator(node, child_to_parent, context);
}

/*
 * The key column of an index as an expression over the parent's columns.
 */
static Node *
index_key(HeapTuple tuple, int column, ChildKey *key)
{
	Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);
	AttrNumber	attno = form->indkey.values[column];
	int			nexpression = 0;
	Datum		datum;
	bool		isnull;
	List	   *expressions;
	Node	   *expression;

	if (attno != 0)
		return child_to_parent((Node *) makeVar(1, attno, InvalidOid, -1, InvalidOid, 0), key);

	for (int i = 0; i < column; i++)
		if (form->indkey.values[i] == 0)
			nexpression++;
	datum = SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indexprs, &isnull);
	if (isnull)
		return NULL;
	expressions = stringToNode(TextDatumGetCString(datum));
	if (nexpression >= list_length(expressions))
		return NULL;
	expression = list_nth(expressions, nexpression);

	/* as RelationGetIndexExpressions does, and all expressions of a query */
	expression = eval_const_expressions(NULL, expression);
	return child_to_parent(expression, key);
}

static Node *
strip_relabel(Node *node)
{
	return node && IsA(node, RelabelType) ? (Node *) ((RelabelType *) node)->arg : node;
}

static bool
key_is_column(Node *key, Node *column)
{
	key = strip_relabel(key);
	column = strip_relabel(column);
	if (key == NULL)
		return false;
	if (IsA(key, Var) && IsA(column, Var))
		return ((Var *) key)->varno == ((Var *) column)->varno &&
			((Var *) key)->varattno == ((Var *) column)->varattno;
	return equal(key, column);
}

static bool
index_has_key(Oid index, Oid in_ball, Node *column, ChildKey *key)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form;
	bool		isnull;
	oidvector  *opclasses;
	bool		found = false;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_index) GETSTRUCT(tuple);
	opclasses = (oidvector *)
		DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indclass, &isnull));
	for (int i = 0; form->indisvalid && !found && i < form->indnkeyatts; i++)
		found = opclasses->values[i] >= FirstNormalObjectId &&
			op_in_opfamily(in_ball, get_opclass_family(opclasses->values[i])) &&
			key_is_column(index_key(tuple, i, key), column);
	ReleaseSysCache(tuple);
	return found;
}

/*
 * The indexes of a table, valid or not, by the catalog alone.
 */
static List *
indexes_of_table(Oid table)
{
	Relation	catalog = table_open(IndexRelationId, AccessShareLock);
	List	   *indexes = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(table));
	scan = systable_beginscan(catalog, IndexIndrelidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		indexes = lappend_oid(indexes, ((Form_pg_index) GETSTRUCT(tuple))->indexrelid);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return indexes;
}

static bool
table_has_key(Oid in_ball, Node *column, ChildKey *key)
{
	ListCell   *lc;

	foreach(lc, indexes_of_table(key->child))
		if (index_has_key(lfirst_oid(lc), in_ball, column, key))
			return true;
	return false;
}

static bool
is_pseudo_constant(PlannerInfo *root, Node *node, Index relid)
{
	return !bms_is_member(relid, pull_varnos(root, node)) &&
		!contain_volatile_functions(node);
}

static bool
indexable_by_children(PlannerInfo *root, RelOptInfo *rel, Oid in_ball,
					  Node *column, Node *center, Node *bound)
{
	Oid			table = planner_rt_fetch(rel->relid, root)->relid;
	ChildKey	key = {.parent = table, .child = table, .varno = rel->relid};
	ListCell   *lc;

	if (!bms_is_member(rel->relid, pull_varnos(root, column)) ||
		!is_pseudo_constant(root, center, rel->relid) ||
		!is_pseudo_constant(root, bound, rel->relid))
		return false;

	/* a partitioned table's own index spares the look at its partitions */
	if (table_has_key(in_ball, column, &key))
		return true;
	foreach(lc, find_all_inheritors(table, NoLock, NULL))
	{
		key.child = lfirst_oid(lc);
		if (key.child != table && table_has_key(in_ball, column, &key))
			return true;
	}
	return false;
}

/*
 * Whether an index of the table, or if it is a parent, of a child, can search
 * for distance(a, b) <= bound.  The three must be in terms of the table.
 */
bool
indexable_by_relation(PlannerInfo *root, RelOptInfo *rel,
					  const SimHashObjects *objects,
					  Node *a, Node *b, Node *bound)
{
	Oid			op = objects->in_ball;

	if (planner_rt_fetch(rel->relid, root)->inh)
		return indexable_by_children(root, rel, op, a, b, bound) ||
			indexable_by_children(root, rel, op, b, a, bound);
	return indexable_by_own(root, rel, op, a, b, bound) ||
		indexable_by_own(root, rel, op, b, a, bound);
}

/* --- who else may want the comparison --------------------------------------- */

static bool
is_same_distance(Node *node, void *context)
{
	const Comparison *comparison = context;

	if (node == NULL)
		return false;
	if (comparison->spelling_class == OperatorRelationId ?
		IsA(node, OpExpr) && ((OpExpr *) node)->opno == comparison->spelling :
		IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == comparison->spelling)
		return true;
	return expression_tree_walker(node, is_same_distance, context);
}

/*
 * The table that an object with an expression belongs to: an index, a
 * partition key, a constraint, statistics.
 */
static Oid
table_of_dependent(const Form_pg_depend dependent)
{
	Oid			object = dependent->objid;
	HeapTuple	tuple;
	Oid			table = InvalidOid;

	switch (dependent->classid)
	{
		case RelationRelationId:
			table = IndexGetRelation(object, true);
			return OidIsValid(table) ? table : object;
		case ConstraintRelationId:
			tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(object));
			if (HeapTupleIsValid(tuple))
			{
				table = ((Form_pg_constraint) GETSTRUCT(tuple))->conrelid;
				ReleaseSysCache(tuple);
			}
			break;
		case StatisticExtRelationId:
			tuple = SearchSysCache1(STATEXTOID, ObjectIdGetDatum(object));
			if (HeapTupleIsValid(tuple))
			{
				table = ((Form_pg_statistic_ext) GETSTRUCT(tuple))->stxrelid;
				ReleaseSysCache(tuple);
			}
			break;
	}
	return table;
}

/*
 * Whether a table is one of the query's, or the parent or child of one.
 */
static bool
table_is_queried(PlannerInfo *root, Oid table)
{
	Oid			type = get_rel_type_id(table);
	ListCell   *lc;

	foreach(lc, root->parse->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);
		Oid			other;

		if (rte->rtekind != RTE_RELATION)
			continue;
		if (rte->relid == table)
			return true;
		other = get_rel_type_id(rte->relid);
		if (OidIsValid(type) && OidIsValid(other) &&
			(typeInheritsFrom(type, other) || typeInheritsFrom(other, type)))
			return true;
	}
	return false;
}

/*
 * Whether something that the planner compares clauses with computes the same
 * distance: the predicate or an expression of an index, a constraint, a
 * partition key, extended statistics.  It would not recognise the comparison
 * in other words.  Nodes are compared, so another spelling is another thing.
 *
 * What depends on the spelling is looked up for all tables that can matter to
 * the query, known to the planner already or not.  The table's own indexes are
 * looked at as well, because expressions that call an SQL function which is
 * inlined do not depend on what the function calls.
 */
bool
compared_elsewhere(PlannerInfo *root, RelOptInfo *rel, const Comparison *comparison)
{
	Relation	catalog;
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);

		if (is_same_distance((Node *) index->indpred, (void *) comparison) ||
			is_same_distance((Node *) index->indexprs, (void *) comparison))
			return true;
	}

	catalog = table_open(DependRelationId, AccessShareLock);
	ScanKeyInit(&key[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(comparison->spelling_class));
	ScanKeyInit(&key[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(comparison->spelling));
	scan = systable_beginscan(catalog, DependReferenceIndexId, true, NULL, 2, key);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Oid			table = table_of_dependent((Form_pg_depend) GETSTRUCT(tuple));

		found = OidIsValid(table) && table_is_queried(root, table);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return found;
}
