/*
 * Indexes that can serve a comparison, and other uses of a distance
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "access/tupdesc.h"
#include "catalog/pg_operator.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "planner/rewrite/indexable.h"

/* --- indexes that can serve a comparison ------------------------------------- */

/*
 * Return true if an index of the table has an operator class that is not built in.  This
 * cheap test avoids all other work for most tables.
 */
bool
indexable_has_custom_opclass(RelOptInfo *rel)
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

/*
 * Return true if an index of the table has this column and can search it within a ball.
 * The index requires that the center and the radius are pseudoconstants.
 */
static bool
indexable_by_column(PlannerInfo *root, RelOptInfo *rel, const SimHashObjects *objects,
					Node *column, Node *center, Node *radius)
{
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);

		for (int i = 0; i < index->nkeycolumns; i++)
			if (match_index_to_operand(column, i, index) &&
				OidIsValid(objects_search_operator(objects, index->opfamily[i])) &&
				is_pseudo_constant_for_index(root, center, index) &&
				is_pseudo_constant_for_index(root, radius, index))
				return true;
	}
	return false;
}

/*
 * Return true if an index of the table can search for distance(a, b) <= radius.  a, b
 * and radius must already reference rel.  If the distance is asymmetric, only a can be
 * the index column.
 */
bool
indexable_by_relation(PlannerInfo *root, RelOptInfo *rel,
					  const SimHashObjects *objects,
					  Node *a, Node *b, Node *radius)
{
	return indexable_by_column(root, rel, objects, a, b, radius) ||
		(objects->distance->symmetric &&
		 indexable_by_column(root, rel, objects, b, a, radius));
}

/* --- other uses of the distance ---------------------------------------------- */

/*
 * Return true if an expression contains the distance of a comparison, written in the same
 * way.  The context is the Comparison.
 */
static bool
is_same_distance(Node *node, void *context)
{
	const Comparison *comparison = context;

	if (node == NULL)
		return false;
	if (comparison->callee_class == OperatorRelationId ?
		IsA(node, OpExpr) && ((OpExpr *) node)->opno == comparison->callee :
		IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == comparison->callee)
		return true;
	return expression_tree_walker(node, is_same_distance, context);
}

/*
 * Return true if a constraint of the table computes the distance, and the planner may use
 * the constraint to exclude the table.  The conditions are those of
 * relation_excluded_by_constraints() in plancat.c.
 */
static bool
constraint_compares(PlannerInfo *root, RelOptInfo *rel, const Comparison *comparison)
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
								 (void *) comparison);
	if (!found && constraint_exclusion == CONSTRAINT_EXCLUSION_ON)
		found = is_same_distance((Node *) RelationGetPartitionQual(relation),
								 (void *) comparison);
	table_close(relation, NoLock);
	return found;
}

/*
 * Return true if the partition key of a table contains the distance.
 */
static bool
key_compares(RelOptInfo *rel, const Comparison *comparison)
{
	for (int i = 0; rel->partexprs && i < rel->part_scheme->partnatts; i++)
		if (is_same_distance((Node *) rel->partexprs[i], (void *) comparison))
			return true;
	return false;
}

/*
 * Return true if an index predicate, an index expression, extended statistics or the
 * partition key of the table contain the distance.
 */
static bool
table_compares(RelOptInfo *rel, const Comparison *comparison)
{
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);

		if (is_same_distance((Node *) index->indpred, (void *) comparison) ||
			is_same_distance((Node *) index->indexprs, (void *) comparison))
			return true;
	}
	foreach(lc, rel->statlist)
		if (is_same_distance((Node *) ((StatisticExtInfo *) lfirst(lc))->exprs,
							 (void *) comparison))
			return true;
	return key_compares(rel, comparison);
}

/*
 * Return true if the distance is in the partition key of any child relation that the
 * planner has created.  At run time, the executor prunes partitions by the conditions of
 * the topmost parent, as the last rewrite left them.  This includes partitions of the
 * parent's children.
 */
static bool
other_child_compares(PlannerInfo *root, const Comparison *comparison)
{
	ListCell   *lc;

	foreach(lc, root->append_rel_list)
	{
		RelOptInfo *rel = root->simple_rel_array[((AppendRelInfo *) lfirst(lc))->child_relid];

		if (rel && key_compares(rel, comparison))
			return true;
	}
	return false;
}

/*
 * Return true if the planner may match the comparison with another object that contains
 * the distance.  After a rewrite, the planner would not recognize the comparison.  The
 * planner matches equal nodes, so a distance that is written in another way does not
 * count.
 *
 * Uses what the planner has read about the table and its parents.  Opens only the table
 * itself, to read its constraints.
 */
bool
compared_elsewhere(PlannerInfo *root, RelOptInfo *rel, const Comparison *comparison)
{
	Index		relid = rel->relid;

	if (table_compares(rel, comparison) || constraint_compares(root, rel, comparison))
		return true;
	while (root->append_rel_array && root->append_rel_array[relid])
	{
		relid = root->append_rel_array[relid]->parent_relid;
		if (table_compares(root->simple_rel_array[relid], comparison))
			return true;
	}
	return relid != rel->relid && other_child_compares(root, comparison);
}
