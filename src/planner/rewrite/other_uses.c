/*
 * Other objects that contain a distance, and foreign tables
 *
 * Core matches a comparison with a partial index, an index expression, extended statistics, a
 * partition key or a constraint by equal nodes.  And a foreign server receives the nodes of a
 * clause.  In both cases the comparison must stay.
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
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "partitioning/partdesc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "planner/rewrite/other_uses.h"

/* --- of a table ------------------------------------------------------------------- */

/*
 * Return true if an expression contains the distance of a condition, written in the same
 * way.  The context is the Condition.
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
 * Return true if a constraint of the table computes the distance, and the planner may use
 * the constraint to exclude the table.  The conditions are those of
 * relation_excluded_by_constraints() in plancat.c.
 */
static bool
constraint_compares(PlannerInfo *root, RelOptInfo *rel, const Condition *condition)
{
	Relation	relation;
	TupleConstr *constraints;
	bool		found = false;

	if (constraint_exclusion == CONSTRAINT_EXCLUSION_OFF ||
		(constraint_exclusion == CONSTRAINT_EXCLUSION_PARTITION &&
		 rel->reloptkind == RELOPT_BASEREL))
		return false;

	/* the planner has locked the table */
	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	constraints = RelationGetDescr(relation)->constr;
	for (int i = 0; constraints && !found && i < constraints->num_check; i++)
		found = is_same_distance(stringToNode(constraints->check[i].ccbin),
								 (void *) condition);
	if (!found && constraint_exclusion == CONSTRAINT_EXCLUSION_ON)
		found = is_same_distance((Node *) RelationGetPartitionQual(relation),
								 (void *) condition);
	table_close(relation, NoLock);
	return found;
}

/*
 * Return true if the partition key of a table contains the distance.
 */
static bool
key_compares(RelOptInfo *rel, const Condition *condition)
{
	for (int i = 0; rel->partexprs && i < rel->part_scheme->partnatts; i++)
		if (is_same_distance((Node *) rel->partexprs[i], (void *) condition))
			return true;
	return false;
}

/*
 * Return true if an index predicate, an index expression, extended statistics or the
 * partition key of the table contain the distance.
 */
static bool
table_compares(RelOptInfo *rel, const Condition *condition)
{
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);

		if (is_same_distance((Node *) index->indpred, (void *) condition) ||
			is_same_distance((Node *) index->indexprs, (void *) condition))
			return true;
	}
	foreach(lc, rel->statlist)
		if (is_same_distance((Node *) ((StatisticExtInfo *) lfirst(lc))->exprs,
							 (void *) condition))
			return true;
	return key_compares(rel, condition);
}

/* --- of members -------------------------------------------------------------------- */

/*
 * Return the partitions or inheritance children of a table.  Locks inheritance children as the
 * planner does.
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
 * Return true if an index or the partition key of a table contains the distance.
 */
static bool
relation_compares(Relation relation, const Condition *condition)
{
	PartitionKey key = RelationGetPartitionKey(relation);
	List	   *indexes;
	bool		found = key && is_same_distance((Node *) key->partexprs, (void *) condition);
	ListCell   *lc;

	if (found)
		return true;
	indexes = RelationGetIndexList(relation);
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		found |= is_same_distance((Node *) RelationGetIndexExpressions(index), (void *) condition) ||
			is_same_distance((Node *) RelationGetIndexPredicate(index), (void *) condition);
		index_close(index, NoLock);
	}
	return found;
}

/*
 * Return true if a table or a child of it contains the distance.  Of partitions, reads only
 * those that have partitions, since there may be thousands of others.
 */
static bool
any_child_compares(Oid table, const Condition *condition)
{
	Relation	relation = table_open(table, AccessShareLock);
	bool		partitioned = relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	bool		found = relation_compares(relation, condition);
	List	   *children = found ? NIL : children_of(relation);
	ListCell   *lc;

	foreach(lc, children)
	{
		CHECK_FOR_INTERRUPTS();
		if (!found && (!partitioned || get_rel_relkind(lfirst_oid(lc)) == RELKIND_PARTITIONED_TABLE))
			found = any_child_compares(lfirst_oid(lc), condition);
	}
	table_close(relation, NoLock);
	return found;
}

/*
 * Return true if a table is foreign, or has a foreign partition or inheritance child.
 */
static bool
any_child_is_foreign(Oid table)
{
	Relation	relation;
	List	   *children;
	bool		found = false;
	ListCell   *lc;

	if (!has_subclass(table))
		return get_rel_relkind(table) == RELKIND_FOREIGN_TABLE;
	relation = table_open(table, AccessShareLock);
	children = children_of(relation);
	foreach(lc, children)
	{
		CHECK_FOR_INTERRUPTS();
		found = found || any_child_is_foreign(lfirst_oid(lc));
	}
	table_close(relation, NoLock);
	return found;
}

/*
 * Return true if a table, or any member of a UNION ALL, is or contains what is looked for:
 * the distance of a condition or, if it is NULL, a foreign table.
 */
static bool
any_member(PlannerInfo *root, Index relid, const Condition *condition)
{
	RangeTblEntry *rte = planner_rt_fetch(relid, root);
	ListCell   *lc;

	if (rte->rtekind == RTE_RELATION && rte->inh)
		return condition ? any_child_compares(rte->relid, condition) :
			any_child_is_foreign(rte->relid);
	if (rte->rtekind == RTE_RELATION)
		return condition == NULL && rte->relkind == RELKIND_FOREIGN_TABLE;
	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst(lc);
		RangeTblEntry *member = planner_rt_fetch(appinfo->child_relid, root);

		if (appinfo->parent_relid == relid &&
			(any_member(root, appinfo->child_relid, condition) ||
			 (condition && member->rtekind == RTE_RELATION && !member->inh &&
			  any_child_compares(member->relid, condition))))
			return true;
	}
	return false;
}

/*
 * Return true if a relation is a foreign table, or has a foreign member: a partition, an
 * inheritance child or a member of a UNION ALL.
 */
bool
has_foreign_member(PlannerInfo *root, Index relid)
{
	return any_member(root, relid, NULL);
}

/*
 * Return true if the planner may match a comparison of a relation's distance with another
 * object that contains the distance.  After a rewrite, the planner would not recognize the
 * comparison.  The planner matches equal nodes, so a distance that is written in another way
 * does not count.  Nor do indexes, statistics and constraints of partitions.
 *
 * rel is the relation that the planner builds, relid the one that the distance is of.
 */
bool
compared_elsewhere(PlannerInfo *root, RelOptInfo *rel, Index relid, const Condition *condition)
{
	if (relid == rel->relid && planner_rt_fetch(relid, root)->rtekind == RTE_RELATION &&
		(table_compares(rel, condition) || constraint_compares(root, rel, condition)))
		return true;
	return any_member(root, relid, condition);
}
