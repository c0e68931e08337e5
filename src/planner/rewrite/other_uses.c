/*
 * Other objects that contain a distance, and foreign tables
 *
 * Core matches a comparison with a partial index, an index expression, extended statistics, a
 * partition key or a constraint by equal nodes.  And a foreign server receives the nodes of a
 * clause that it evaluates.  In both cases the comparison must stay.
 *
 * The comparison stays, with simhash_beside(a, b, comparison) beside it, if:
 *
 *	- its operator or function is in the predicate or an expression of an index, in
 *	  extended statistics, a constraint or a partition key of the table, whatever its
 *	  arguments;
 *	- or in an index, a constraint or a partition key of an inheritance child or a member
 *	  of a UNION ALL;
 *	- or in the partition key of a partition.  Other objects of partitions are not read,
 *	  since there may be thousands;
 *	- it is an equality with a column of another table, which core can hash, or merge by;
 *	- it is of local and foreign tables.
 *
 * Constraints count only where constraint_exclusion makes core read them.  Nothing is added if no
 * index of a single table can serve the call, if the comparison has no upper bound, or if it
 * contains a subplan.  A constraint that calls an inlined SQL function is not recognized.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tupdesc.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_partitioned_table.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "parser/parsetree.h"
#include "partitioning/partdesc.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "planner/planner.h"

/*
 * Return true if an expression calls the operator or function that computes the distance of a
 * condition, whatever the arguments.  An expression_tree_walker callback.  The context is the
 * Condition.
 */
static bool
is_same_distance(Node *node, void *context)
{
	const Condition *condition = context;

	if (node == NULL)
		return false;
	if (condition->callee_class == OperatorRelationId ?
		IsA(node, OpExpr) && ((OpExpr *) node)->opno == condition->callee :
		IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == condition->callee)
		return true;
	return expression_tree_walker(node, is_same_distance, context);
}

/*
 * Return true if a CHECK constraint of a table contains the distance.
 */
static bool
constraint_compares(Relation relation, const Condition *condition)
{
	TupleConstr *constraints = RelationGetDescr(relation)->constr;

	for (int i = 0; constraints && i < constraints->num_check; i++)
		if (is_same_distance(stringToNode(constraints->check[i].ccbin), (void *) condition))
			return true;
	return false;
}

/*
 * Return the partitions or inheritance children of a table that the planner has locked.  Locks
 * inheritance children, as the planner does.
 */
static List *
children_of(Relation relation)
{
	PartitionDesc partitions;
	List	   *children = NIL;

	if (!relation->rd_rel->relhassubclass)
		return NIL;
	if (relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return find_inheritance_children(RelationGetRelid(relation), AccessShareLock);
	partitions = RelationGetPartitionDesc(relation, true);
	for (int i = 0; i < partitions->nparts; i++)
		children = lappend_oid(children, partitions->oids[i]);
	return children;
}

/*
 * Return true if an index, a constraint or the partition key of a table contains the distance.
 * Constraints count if the planner may exclude the table by them (plancat.c).  By default it
 * does so only for members of other tables.
 */
static bool
relation_compares(Relation relation, bool is_member, const Condition *condition)
{
	PartitionKey key = RelationGetPartitionKey(relation);
	bool		found = key && is_same_distance((Node *) key->partexprs, (void *) condition);
	ListCell   *lc;

	if (constraint_exclusion == CONSTRAINT_EXCLUSION_ON ||
		(is_member && constraint_exclusion == CONSTRAINT_EXCLUSION_PARTITION))
		found = found || constraint_compares(relation, condition);
	if (constraint_exclusion == CONSTRAINT_EXCLUSION_ON)
		found = found || is_same_distance((Node *) RelationGetPartitionQual(relation),
										  (void *) condition);
	foreach(lc, found ? NIL : RelationGetIndexList(relation))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		found |= is_same_distance((Node *) RelationGetIndexExpressions(index), (void *) condition) ||
			is_same_distance((Node *) RelationGetIndexPredicate(index), (void *) condition);
		index_close(index, NoLock);
	}
	return found;
}

/*
 * Return true if the partition key of a table, or of one of its partitions, contains the
 * distance.  Takes no lock, since the planner locks no partition that it prunes.
 */
static bool
any_key_compares(Oid table, const Condition *condition)
{
	HeapTuple	tuple = get_rel_relkind(table) != RELKIND_PARTITIONED_TABLE ? NULL :
		SearchSysCache1(PARTRELID, ObjectIdGetDatum(table));
	Datum		expressions;
	bool		isnull;
	bool		found;
	ListCell   *lc;

	CHECK_FOR_INTERRUPTS();
	if (!HeapTupleIsValid(tuple))
		return false;
	expressions = SysCacheGetAttr(PARTRELID, tuple, Anum_pg_partitioned_table_partexprs, &isnull);
	found = !isnull && is_same_distance(stringToNode(TextDatumGetCString(expressions)),
										(void *) condition);
	ReleaseSysCache(tuple);
	foreach(lc, found ? NIL : find_inheritance_children(table, NoLock))
		found = found || any_key_compares(lfirst_oid(lc), condition);
	return found;
}

/*
 * Return true if an object of a table that the planner has locked, or of a child of it, contains
 * the distance.  Of partitions, reads only the keys, since there may be thousands.
 */
static bool
any_child_compares(Oid table, bool inh, bool is_member, const Condition *condition)
{
	Relation	relation = table_open(table, NoLock);
	bool		partitioned = relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	bool		found = relation_compares(relation, is_member, condition);
	ListCell   *lc;

	foreach(lc, found || !inh ? NIL : children_of(relation))
	{
		CHECK_FOR_INTERRUPTS();
		found = found || (partitioned ? any_key_compares(lfirst_oid(lc), condition) :
						  any_child_compares(lfirst_oid(lc), true, true, condition));
	}
	table_close(relation, NoLock);
	return found;
}

/*
 * Return true if all tables of a list are foreign, or all of their partitions are.  Takes no lock.
 */
static bool
are_foreign(List *tables)
{
	ListCell   *lc;

	foreach(lc, tables)
	{
		Oid			table = lfirst_oid(lc);
		char		relkind = get_rel_relkind(table);

		CHECK_FOR_INTERRUPTS();
		if (relkind == RELKIND_PARTITIONED_TABLE ?
			!are_foreign(find_inheritance_children(table, NoLock)) :
			relkind != RELKIND_FOREIGN_TABLE)
			return false;
	}
	return tables != NIL;
}

/*
 * Return true if a relation is a foreign table, a table whose partitions all are, or a UNION
 * ALL of such members.
 */
bool
is_foreign(PlannerInfo *root, Index relid)
{
	RangeTblEntry *rte = planner_rt_fetch(relid, root);
	bool		foreign = false;
	ListCell   *lc;

	if (rte->rtekind == RTE_RELATION)
	{
		Relation	relation;

		if (rte->relkind != RELKIND_PARTITIONED_TABLE)
			return rte->relkind == RELKIND_FOREIGN_TABLE;
		relation = table_open(rte->relid, NoLock);
		foreign = are_foreign(children_of(relation));
		table_close(relation, NoLock);
		return foreign;
	}
	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst(lc);

		if (appinfo->parent_relid != relid)
			continue;
		foreign = is_foreign(root, appinfo->child_relid);
		if (!foreign)
			break;
	}
	return foreign;
}

/*
 * Return true if an object of a table, of a child of it, or of a member of a UNION ALL contains
 * the distance.
 */
static bool
any_member_compares(PlannerInfo *root, Index relid, bool is_member, const Condition *condition)
{
	RangeTblEntry *rte = planner_rt_fetch(relid, root);
	ListCell   *lc;

	if (rte->rtekind == RTE_RELATION)
		return any_child_compares(rte->relid, rte->inh, is_member, condition);
	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst(lc);

		if (appinfo->parent_relid == relid &&
			any_member_compares(root, appinfo->child_relid, true, condition))
			return true;
	}
	return false;
}

/*
 * Return true if the planner may match a comparison of a relation's distance with another
 * object that contains the distance.  After a rewrite, the planner would not recognize the
 * comparison.  The planner matches equal nodes, so a distance that is written by a function
 * where the comparison has the operator does not count.  Nor do indexes, statistics and
 * constraints of partitions, and statistics of other members.
 *
 * rel is the relation that the planner builds, relid the one that the distance is of.
 */
bool
compared_elsewhere(PlannerInfo *root, RelOptInfo *rel, Index relid, const Condition *condition)
{
	ListCell   *lc;

	foreach(lc, relid == rel->relid ? rel->statlist : NIL)
		if (is_same_distance((Node *) lfirst_node(StatisticExtInfo, lc)->exprs,
							 (void *) condition))
			return true;
	return any_member_compares(root, relid, rel->reloptkind != RELOPT_BASEREL, condition);
}
