/*
 * Plan node of a similarity join
 *
 * The node is a CustomScan that scans no relation.  Its custom_scan_tlist has the columns
 * of the left child and then the columns of the right child.  In the node's expressions,
 * core replaces each column by a reference to the list.  Core copies and serializes the
 * node, so its data are stored in lists.  JoinSpec describes them.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "nodes/makefuncs.h"

#include "join/plan/join_node.h"

/*
 * Return a target list with the columns of both children, numbered from 1.
 */
static List *
columns_of(List *children)
{
	List	   *columns = NIL;
	ListCell   *child;
	ListCell   *lc;

	foreach(child, children)
	{
		foreach(lc, ((Plan *) lfirst(child))->targetlist)
		{
			TargetEntry *column = lfirst_node(TargetEntry, lc);

			columns = lappend(columns, makeTargetEntry(column->expr, list_length(columns) + 1,
													   column->resname, false));
		}
	}
	return columns;
}

/*
 * Describe a join for the private data of its path.  Returns two lists: one of expressions,
 * the last of which are those tested above the join, and one of
 * integers.
 */
List *
join_node_describe(const JoinSpec *spec, List *filter)
{
	List	   *exprs = list_make5(spec->left_key, spec->right_key, spec->radius, spec->equal,
								   spec->cheap_clauses);

	exprs = lappend(lappend(lappend(exprs, spec->clauses), spec->distance_clauses), filter);
	return list_make2(exprs, list_make3_int(spec->jointype, spec->method, spec->is_swapped));
}

/*
 * Return the plan node of a join that has been described.  The caller sets its methods, and
 * calls nulling_normalize().
 */
CustomScan *
join_node_make(List *description, List *tlist, List *children)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *exprs = list_copy(linitial(description));

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = llast(exprs);
	scan->custom_plans = children;
	scan->custom_scan_tlist = columns_of(children);
	scan->custom_exprs = list_delete_last(exprs);
	scan->custom_private = lsecond(description);
	return scan;
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
	spec->left_key = linitial(exprs);
	spec->right_key = lsecond(exprs);
	spec->radius = lthird(exprs);
	spec->equal = lfourth(exprs);
	spec->cheap_clauses = list_nth(exprs, 4);
	spec->clauses = list_nth(exprs, 5);
	spec->distance_clauses = list_nth(exprs, 6);
}
