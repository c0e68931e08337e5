/*
 * Plan node of a similarity join
 *
 * The node is a CustomScan that scans no relation.  Its custom_scan_tlist has the columns
 * of the left child and then the columns of the right child.  In the node's expressions,
 * core replaces each column by a reference to the list.  Core copies and serializes the
 * node, so its data are stored in lists.  JoinSpec describes them.
 *
 * From 16 on, a Var or PlaceHolderVar records which outer joins can make it NULL.  An outer join
 * adds itself to the columns of its nullable side.  So a column is different in the clauses of the
 * join, which are below it, and in its output, which is above it.  Core's join nodes know that
 * (set_join_references() in setrefs.c).  For a CustomScan it insists that a column is the same
 * everywhere (set_customscan_references()).  nulling_normalize() makes the Vars equal.
 *
 * The output does not change, since the plan node above refers to it.  Core may set the
 * node's target list later, but only to expressions of the join relation's output.  The
 * node's list of its children's columns, and all of its clauses, are changed to agree with
 * the output.  Nothing uses the sets of outer joins after planning.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"

#include "compat.h"
#include "join/plan/join_node.h"

/* --- nulling outer joins ----------------------------------------------------------- */

/*
 * Return the recorded Var of the same column as a Var, or the recorded PlaceHolderVar with the
 * same number (phid).  Returns NULL if there is none, or for any other node.
 */
static Node *
find_recorded(List *recorded, Node *node)
{
	ListCell   *lc;

	foreach(lc, recorded)
	{
		Node	   *other = lfirst(lc);

		if (nodeTag(other) != nodeTag(node))
			continue;
		if (IsA(node, Var) ? ((Var *) other)->varno == ((Var *) node)->varno &&
			((Var *) other)->varattno == ((Var *) node)->varattno :
			((PlaceHolderVar *) other)->phid == ((PlaceHolderVar *) node)->phid)
			return other;
	}
	return NULL;
}

/*
 * Record the columns and PlaceHolderVars of an expression that have not been recorded yet.
 * Ignores columns inside a PlaceHolderVar, which belong to another level.  `context` is the
 * list to add to.  An expression_tree_walker callback.
 */
static bool
record_columns(Node *node, void *context)
{
	List	  **recorded = context;

	if (node == NULL)
		return false;
	if (!IsA(node, Var) && !IsA(node, PlaceHolderVar))
		return expression_tree_walker(node, record_columns, context);
	if (find_recorded(*recorded, node) == NULL)
		*recorded = lappend(*recorded, node);
	return false;
}

/*
 * The columns and PlaceHolderVars of a join's children, and the recorded ones
 */
typedef struct EvaluatedHere
{
	List	   *of_children;
	List	   *recorded;
} EvaluatedHere;

/*
 * Record the columns inside each PlaceHolderVar of an expression that no child has.  The join
 * itself evaluates these.  They may be inside a larger expression, because the output of the
 * topmost join is that of the query.  An expression_tree_walker callback.
 */
static bool
record_evaluated(Node *node, void *context)
{
	EvaluatedHere *here = context;

	if (node == NULL)
		return false;
	if (IsA(node, PlaceHolderVar))
	{
		if (find_recorded(here->of_children, node))
			return false;
		record_columns((Node *) ((PlaceHolderVar *) node)->phexpr, &here->recorded);
	}
	return expression_tree_walker(node, record_evaluated, context);
}

/*
 * Return a copy of an expression in which each column and PlaceHolderVar has the outer joins
 * of the recorded one.  `context` is the list of these.  An expression_tree_mutator callback.
 */
static Node *
normalize_columns(Node *node, void *context)
{
	Node	   *copy;
	Node	   *recorded;

	if (node == NULL)
		return NULL;
	copy = expression_tree_mutator(node, normalize_columns, context);
	recorded = find_recorded(context, node);
	if (recorded && IsA(node, Var))
		copy_var_nulling((Var *) copy, (Var *) recorded);
	else if (recorded)
		copy_placeholder_nulling((PlaceHolderVar *) copy, (PlaceHolderVar *) recorded);
	return copy;
}

/*
 * Make the outer joins recorded in a column's Var or PlaceHolderVar the same everywhere in
 * a plan node.  `output` is the output of the join relation.
 */
static void
nulling_normalize(CustomScan *scan, List *output)
{
	EvaluatedHere here = {NIL, NIL};

	record_columns((Node *) output, &here.recorded);
	record_columns((Node *) scan->custom_scan_tlist, &here.of_children);
	record_evaluated((Node *) output, &here);
	record_columns((Node *) scan->custom_scan_tlist, &here.recorded);
	scan->scan.plan.qual = (List *)
		normalize_columns((Node *) scan->scan.plan.qual, here.recorded);
	scan->custom_exprs = (List *)
		normalize_columns((Node *) scan->custom_exprs, here.recorded);
	scan->custom_scan_tlist = (List *)
		normalize_columns((Node *) scan->custom_scan_tlist, here.recorded);
}

/* --- the node ---------------------------------------------------------------------- */

/*
 * Add the columns of a child to a target list, numbered from 1.  If it is the child of a
 * self-join, `relid` is the range table index of the side that they are for, otherwise 0.
 */
static List *
add_columns(List *columns, const Plan *child, Index relid)
{
	ListCell   *lc;

	foreach(lc, child->targetlist)
	{
		TargetEntry *column = copyObject(lfirst_node(TargetEntry, lc));

		if (relid != 0)
			ChangeVarNodes((Node *) column, castNode(Var, column->expr)->varno, relid, 0);
		columns = lappend(columns, makeTargetEntry(column->expr, list_length(columns) + 1,
												   column->resname, false));
	}
	return columns;
}

/*
 * Describe a join for the private data of its path.  Returns two lists: one of expressions, the
 * last of which are those tested above the join, and one of integers.
 */
List *
join_node_describe(const JoinSpec *spec, List *filter)
{
	List	   *exprs = list_make5(spec->left_key, spec->right_key, spec->radius, spec->equal,
								   spec->cheap_clauses);

	exprs = lappend(lappend(lappend(exprs, spec->clauses), spec->distance_clauses), filter);
	return list_make2(exprs, lappend_int(list_make5_int(spec->jointype, spec->method,
														spec->is_swapped, spec->left_relid,
														spec->right_relid),
										 spec->excludes));
}

/*
 * Make the plan of a path, whose private data describe the join.  scan_clauses is empty,
 * because only the path of a base relation has scan clauses.  A CustomPath callback.
 */
Plan *
join_node_make(PlannerInfo *root, RelOptInfo *joinrel, CustomPath *path, List *tlist,
			   List *scan_clauses, List *children)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *exprs = list_copy(linitial(path->custom_private));
	List	   *numbers = lsecond(path->custom_private);
	List	   *columns;

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = llast(exprs);
	scan->flags = path->flags;
	scan->methods = GetCustomScanMethods(JOIN_NODE_NAME, false);
	scan->custom_plans = children;
	columns = add_columns(NIL, linitial(children), list_nth_int(numbers, 3));
	scan->custom_scan_tlist = add_columns(columns, llast(children), list_nth_int(numbers, 4));
	scan->custom_exprs = list_delete_last(exprs);
	scan->custom_private = numbers;
	nulling_normalize(scan, joinrel->reltarget->exprs);
	return &scan->scan.plan;
}

/*
 * Read the JoinSpec of a plan node.
 */
void
join_read_spec(const CustomScan *scan, JoinSpec *spec)
{
	List	   *exprs = scan->custom_exprs;

	spec->jointype = linitial_int(scan->custom_private);
	spec->method = lsecond_int(scan->custom_private);
	spec->is_swapped = lthird_int(scan->custom_private);
	spec->left_relid = list_nth_int(scan->custom_private, 3);
	spec->right_relid = list_nth_int(scan->custom_private, 4);
	spec->excludes = list_nth_int(scan->custom_private, 5);
	spec->left_key = linitial(exprs);
	spec->right_key = lsecond(exprs);
	spec->radius = lthird(exprs);
	spec->equal = lfourth(exprs);
	spec->cheap_clauses = list_nth(exprs, 4);
	spec->clauses = list_nth(exprs, 5);
	spec->distance_clauses = list_nth(exprs, 6);
}
