/*-------------------------------------------------------------------------
 *
 * join_nulling.c
 *		Nulling outer joins of the columns of a join node
 *
 * From 16 on, a Var or PlaceHolderVar records which outer joins can make it NULL.  An outer
 * join adds itself to the columns of its nullable side.  So a column is different in the
 * clauses of the join, which are below it, and in its output, which is above it.  Core's
 * join nodes know that (set_join_references() in setrefs.c).  For a CustomScan it insists that a
 * column is the same everywhere (set_customscan_references()).  These functions see to
 * that.
 *
 * The output stays as it is, since the plan node above refers to it.  Core may set the
 * node's target list later, but it contains only what the output of the join relation
 * contains.  All else is changed to agree with that output: the columns of the children
 * as the node lists them, and all of its clauses.  Nothing uses this information after
 * planning.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"

#include "compat.h"
#include "join/join_nulling.h"

/* One Var for each column, and one PlaceHolderVar for each of its kind. */
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
 * Return the PlaceHolderVar with the same number, or NULL if there is none.
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
 * Note the columns of an expression that were not noted before.  What is inside of a
 * PlaceHolderVar is of another level.
 */
static bool
note_columns(Node *node, void *context)
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
	return expression_tree_walker(node, note_columns, context);
}

/*
 * Note the columns inside of the output's PlaceHolderVars that the join itself evaluates:
 * no child has them.
 */
static void
note_evaluated_placeholders(List *output, List *columns, NullingMap *map)
{
	NullingMap	of_children = {NIL, NIL};
	ListCell   *lc;

	note_columns((Node *) columns, &of_children);
	foreach(lc, output)
	{
		PlaceHolderVar *placeholder = lfirst(lc);

		if (IsA(placeholder, PlaceHolderVar) && !find_placeholder(&of_children, placeholder))
			note_columns((Node *) placeholder->phexpr, map);
	}
}

/*
 * Return a copy of an expression whose columns are as they were noted.
 */
static Node *
normalize_columns(Node *node, void *context)
{
	Node	   *copy;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		const Var  *noted = find_column(context, (Var *) node);

		copy = copyObject(node);
		if (noted)
			copy_var_nulling((Var *) copy, noted);
		return copy;
	}
	copy = expression_tree_mutator(node, normalize_columns, context);
	if (IsA(node, PlaceHolderVar))
	{
		const PlaceHolderVar *noted = find_placeholder(context, (PlaceHolderVar *) node);

		if (noted)
			copy_placeholder_nulling((PlaceHolderVar *) copy, noted);
	}
	return copy;
}

/*
 * Make all columns of a plan node agree about the outer joins that can make them NULL.
 * `output` is the output of the join relation.
 */
void
nulling_normalize(CustomScan *scan, List *output)
{
	NullingMap	map = {NIL, NIL};

	if (!HAVE_NULLING_RELS)
		return;
	note_columns((Node *) output, &map);
	note_evaluated_placeholders(output, scan->custom_scan_tlist, &map);
	note_columns((Node *) scan->custom_scan_tlist, &map);
	scan->scan.plan.qual = (List *)
		normalize_columns((Node *) scan->scan.plan.qual, &map);
	scan->custom_exprs = (List *)
		normalize_columns((Node *) scan->custom_exprs, &map);
	scan->custom_scan_tlist = (List *)
		normalize_columns((Node *) scan->custom_scan_tlist, &map);
}
