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

/* --- indexes that serve it -------------------------------------------------- */

/*
 * Whether any index of the table has an operator class that is not built in:
 * a cheap test that spares most tables all else.
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

static bool
indexable_by_column(PlannerInfo *root, RelOptInfo *rel, const SimHashObjects *objects,
					Node *column, Node *center, Node *radius)
{
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);

		for (int i = 0; i < index->nkeycolumns; i++)
			if (OidIsValid(objects_search_operator(objects, index->opfamily[i])) &&
				match_index_to_operand(column, i, index) &&
				is_pseudo_constant_for_index(root, center, index) &&
				is_pseudo_constant_for_index(root, radius, index))
				return true;
	}
	return false;
}

/*
 * Whether an index of the table can search for distance(a, b) <= radius.  The
 * three must be in terms of the table.  Where it matters which way round, the index
 * has what a stands for.
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
 * Whether a constraint by which the planner may exclude the table computes the
 * distance.  When that is: see relation_excluded_by_constraints() in plancat.c.
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

	/* the planner has locked it */
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
 * Whether the partition key of a table computes the distance.
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
 * Whether an index's predicate or expression, extended statistics or the
 * partition key of a table computes the distance.
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
 * Whether the partition key of another member that the planner has made computes
 * the distance.  Pruning at run time takes the conditions of the topmost parent as
 * they were left, for the partitions of its members too.
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
 * Whether something that the planner compares clauses with computes the same
 * distance: it would not recognise the comparison in other words.  Nodes are
 * compared, so another spelling is another thing.  What the planner has read of
 * the table and of its parents is looked at, and nothing else is opened.
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
