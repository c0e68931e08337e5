/*
 * Nulling outer joins of the columns of a join node
 *
 * From 16 on, a Var or PlaceHolderVar records which outer joins can make it NULL.  An
 * outer join adds itself to the columns of its nullable side.  So a column is different in
 * the clauses of the join, which are below it, and in its output, which is above it.
 * Core's join nodes know that (set_join_references() in setrefs.c).  For a CustomScan it
 * insists that a column is the same everywhere (set_customscan_references()).  These
 * functions make the Vars equal.
 *
 * The output does not change, since the plan node above refers to it.  Core may set the
 * node's target list later, but only to expressions of the join relation's output.  The
 * node's list of its children's columns, and all of its clauses, are changed to agree with
 * the output.  Nothing uses the sets of outer joins after planning.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"

#include "compat.h"
#include "join/plan/join_node.h"

/*
 * Vars and PlaceHolderVars to agree with: one Var for each column, and one PlaceHolderVar
 * for each number (phid).
 */
typedef struct NullingMap
{
	List	   *vars;
	List	   *placeholders;
} NullingMap;

/*
 * Return the Var of a column, or NULL if there is none.
 */
static const Var *
find_column(const NullingMap *map, const Var *var)
{
	ListCell   *lc;

	foreach(lc, map->vars)
	{
		const Var  *other = lfirst(lc);

		if (other->varno == var->varno && other->varattno == var->varattno)
			return other;
	}
	return NULL;
}

/*
 * Return the PlaceHolderVar with the same number (phid), or NULL if there is none.
 */
static const PlaceHolderVar *
find_placeholder(const NullingMap *map, const PlaceHolderVar *placeholder)
{
	ListCell   *lc;

	foreach(lc, map->placeholders)
	{
		const PlaceHolderVar *other = lfirst(lc);

		if (other->phid == placeholder->phid)
			return other;
	}
	return NULL;
}

/*
 * Record the columns of an expression that have not been recorded yet.  Ignores columns
 * inside a PlaceHolderVar, which belong to another level.
 */
static bool
record_columns(Node *node, void *context)
{
	NullingMap *map = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		if (find_column(map, (Var *) node) == NULL)
			map->vars = lappend(map->vars, node);
		return false;
	}
	if (IsA(node, PlaceHolderVar))
	{
		if (find_placeholder(map, (PlaceHolderVar *) node) == NULL)
			map->placeholders = lappend(map->placeholders, node);
		return false;
	}
	return expression_tree_walker(node, record_columns, context);
}

/*
 * The columns and PlaceHolderVars of a join's children, and the map to record columns in
 */
typedef struct EvaluatedHere
{
	NullingMap	of_children;
	NullingMap *map;
} EvaluatedHere;

/*
 * Record the columns inside each PlaceHolderVar of an expression that no child has.
 */
static bool
record_evaluated(Node *node, void *context)
{
	EvaluatedHere *here = context;

	if (node == NULL)
		return false;
	if (IsA(node, PlaceHolderVar))
	{
		PlaceHolderVar *placeholder = (PlaceHolderVar *) node;

		if (find_placeholder(&here->of_children, placeholder))
			return false;
		record_columns((Node *) placeholder->phexpr, here->map);
	}
	return expression_tree_walker(node, record_evaluated, context);
}

/*
 * Record the columns inside each PlaceHolderVar of the output that no child has.  The join
 * itself evaluates these.  They may be inside a larger expression, because the output of the
 * topmost join is that of the query.
 */
static void
record_evaluated_placeholders(List *output, List *columns, NullingMap *map)
{
	EvaluatedHere here = {{NIL, NIL}, map};

	record_columns((Node *) columns, &here.of_children);
	record_evaluated((Node *) output, &here);
}

/*
 * Return a copy of an expression in which each column is replaced by the recorded Var.
 */
static Node *
normalize_columns(Node *node, void *context)
{
	Node	   *copy;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		const Var  *recorded = find_column(context, (Var *) node);

		copy = copyObject(node);
		if (recorded)
			copy_var_nulling((Var *) copy, recorded);
		return copy;
	}
	copy = expression_tree_mutator(node, normalize_columns, context);
	if (IsA(node, PlaceHolderVar))
	{
		const PlaceHolderVar *recorded = find_placeholder(context, (PlaceHolderVar *) node);

		if (recorded)
			copy_placeholder_nulling((PlaceHolderVar *) copy, recorded);
	}
	return copy;
}

/*
 * Make the outer joins recorded in a column's Var or PlaceHolderVar the same everywhere in
 * a plan node.  `output` is the output of the join relation.
 */
void
nulling_normalize(CustomScan *scan, List *output)
{
	NullingMap	map = {NIL, NIL};

	if (!HAVE_NULLING_RELS)
		return;
	record_columns((Node *) output, &map);
	record_evaluated_placeholders(output, scan->custom_scan_tlist, &map);
	record_columns((Node *) scan->custom_scan_tlist, &map);
	scan->scan.plan.qual = (List *)
		normalize_columns((Node *) scan->scan.plan.qual, &map);
	scan->custom_exprs = (List *)
		normalize_columns((Node *) scan->custom_exprs, &map);
	scan->custom_scan_tlist = (List *)
		normalize_columns((Node *) scan->custom_scan_tlist, &map);
}
