/*
 * Rewrite clauses that compare a distance, or arrays
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "planner/planner.h"

/* --- distances ------------------------------------------------------------------ */

/* What becomes of a comparison. */
typedef enum Form
{
	UNCHANGED,
	REPLACED,					/* by an equivalent call */
	KEPT						/* with a call of simhash_beside() */
} Form;

/*
 * Return the base relations whose columns an expression contains.  From 16 on, pull_varnos()
 * includes outer joins.
 */
static Relids
base_relids(PlannerInfo *root, Node *node)
{
	Relids		relids = pull_varnos(root, node);
	int			relid = -1;

	while ((relid = bms_next_member(relids, relid)) >= 0)
		if (planner_rt_fetch(relid, root)->rtekind == RTE_JOIN)
			relids = bms_del_member(relids, relid);
	return relids;
}

/*
 * Return the relations of a set that are foreign.
 */
static Relids
foreign_relids(Rewrite *rewrite, Relids relids)
{
	int			relid = -1;

	while ((relid = bms_next_member(relids, relid)) >= 0)
	{
		if (bms_is_member(relid, rewrite->tested))
			continue;
		rewrite->tested = bms_add_member(rewrite->tested, relid);
		if (is_foreign(rewrite->root, relid))
			rewrite->foreign = bms_add_member(rewrite->foreign, relid);
	}
	return bms_intersect(relids, rewrite->foreign);
}

/*
 * Return true if another object of a relation contains the distance, or the operator on
 * arrays.
 */
static bool
is_compared_elsewhere(Rewrite *rewrite, Index relid, const Condition *condition)
{
	if (condition->callee != rewrite->callee || relid != rewrite->relid ||
		condition->callee_class != rewrite->callee_class)
	{
		rewrite->compared = compared_elsewhere(rewrite->root, rewrite->rel, relid, condition);
		rewrite->callee = condition->callee;
		rewrite->callee_class = condition->callee_class;
		rewrite->relid = relid;
	}
	return rewrite->compared;
}

/*
 * Return an expression with references to the parent replaced by references to the child.
 */
static Node *
translate(Rewrite *rewrite, Node *node)
{
	ListCell   *lc;

	foreach(lc, rewrite->appinfos)
	{
		AppendRelInfo *appinfo = lfirst(lc);

		node = adjust_appendrel_attrs(rewrite->root, node, 1, &appinfo);
	}
	return node;
}

/*
 * Return true if an index of the relation can search the column, or any one if it is NULL, for
 * values within a distance of the query, which must be a pseudoconstant for the index.
 */
static bool
is_indexable(Rewrite *rewrite, const SimHashObjects *objects, Node *column, Node *query)
{
	ListCell   *lc;

	foreach(lc, rewrite->rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);

		for (int i = 0; i < index->nkeycolumns; i++)
			if (OidIsValid(objects_search_operator(objects, index->opfamily[i])) &&
				(column == NULL ||
				 (match_index_to_operand(translate(rewrite, column), i, index) &&
				  is_pseudo_constant_for_index(rewrite->root, translate(rewrite, query), index))))
				return true;
	}
	return false;
}

/*
 * Return what becomes of a comparison.  If its distance is of one table, it is rewritten when
 * core builds this table, since the table's objects are known then.  If its distance is of one
 * subquery, core pushes it down, and it is rewritten there.  Any other comparison is rewritten
 * at once.
 *
 * A comparison of foreign tables stays as it is, so that their server receives what the user
 * wrote, and one of foreign and local tables is kept.  So is an equality of one table's distance
 * with a column of another table, which core can hash, or merge by.  With a distance of two
 * tables, such an equality stays as it is.
 */
static Form
form_of(Rewrite *rewrite, Node *clause, const Condition *condition)
{
	PlannerInfo *root = rewrite->root;
	Relids		of_distance = base_relids(root, (Node *) list_make2(condition->a, condition->b));
	Relids		relids = base_relids(root, clause);
	Relids		foreign;
	bool		is_joinable = condition_is_equality(condition) && !bms_equal(of_distance, relids);
	RangeTblEntry *rte;
	SimHashObjects objects;
	int			relid;

	if (bms_is_empty(of_distance))
		return UNCHANGED;
	if (!bms_get_singleton_member(of_distance, &relid))
		relid = 0;
	if (relid)
	{
		rte = planner_rt_fetch(relid, root);
		if ((rte->rtekind == RTE_RELATION && relid != rewrite->rel->relid) ||
			(rte->rtekind == RTE_SUBQUERY && !rte->inh))
			return UNCHANGED;
	}
	foreign = foreign_relids(rewrite, relids);
	if (!bms_is_empty(foreign))
		return bms_equal(foreign, relids) ? UNCHANGED : KEPT;
	if (relid == 0)
		return is_joinable ? UNCHANGED : REPLACED;
	if (!is_joinable && !is_compared_elsewhere(rewrite, relid, condition))
		return REPLACED;

	/* add no call that no index can serve; indexes of children are not known yet */
	rte = planner_rt_fetch(rewrite->rel->relid, root);
	(void) objects_find(condition->distance, &objects);
	return rte->rtekind != RTE_RELATION || rte->inh || rewrite->appinfos ||
		is_indexable(rewrite, &objects, NULL, NULL) ? KEPT : UNCHANGED;
}

/*
 * Return a call for a comparison if the user may execute all functions of both, else NULL.
 */
static Node *
make_permitted_call(Rewrite *rewrite, Form form, const Condition *condition, Node *clause)
{
	SimHashObjects objects;
	Node	   *call;

	(void) objects_find(condition->distance, &objects);
	call = form == REPLACED ? condition_make_bounds(condition, &objects) :
		condition_make_call(condition, objects.beside, list_make1(copyObject(clause)));
	return privileges_suffice(rewrite->root, clause) &&
		privileges_suffice(rewrite->root, call) ? call : NULL;
}

/* The call that a list of clauses ends with, and what it computes. */
typedef struct LastCall
{
	Node	   *call;			/* NULL if the list ends with another clause */
	Condition	condition;
} LastCall;

/*
 * Append a comparison of a distance to a list, or the call that replaces it.  If the list ends
 * with the call for the other bound of the same distance, as of BETWEEN, replace both by one
 * call.  `next` is the clause that follows, perhaps the call of simhash_beside() that an earlier
 * rewrite has added.
 */
static List *
append_comparison(Rewrite *rewrite, List *result, Node *clause, const Condition *condition,
				  Node *next, LastCall *last)
{
	Form		form = form_of(rewrite, clause, condition);
	Condition	merged = *condition;
	Node	   *call = NULL;

	if (form == REPLACED && last->call && condition_merge(&merged, &last->condition))
		call = make_permitted_call(rewrite, form, &merged, clause);
	if (call)
		result = list_truncate(result, list_length(result) - 1);
	else if (form == REPLACED ||
			 /* a subplan is expensive, so it is not evaluated in two clauses */
			 (form == KEPT && condition_is_bounded(condition) && !contain_subplans(clause)))
	{
		merged = *condition;
		call = make_permitted_call(rewrite, form, condition, clause);
	}
	if (form == KEPT || call == NULL)
		result = lappend(result, clause);
	if (call && !equal(call, next))
		result = lappend(result, call);
	*last = (LastCall) {form == REPLACED ? call : NULL, merged};
	return result;
}

/* --- operators on arrays ----------------------------------------------------------- */

/*
 * Return the call that replaces an operator on arrays of hashes.  Core would estimate the
 * operator as if elements were independent, and as if comparing each with each were cheap.
 * Returns the clause itself if no index of the relation can serve it, if the user may not
 * execute both functions, or if another object contains the operator.  Also returns a clause
 * with a constant array of at most one element, for which core's estimates suffice, since a
 * bitmap scan would filter its rows by the call.  Below a security barrier the array's length
 * makes no difference, since an administrator may have marked the call as leakproof.
 */
static Node *
replace_array_operator(Rewrite *rewrite, Node *clause)
{
	SimHashObjects objects;
	Condition	condition;
	bool		symmetric;
	Node	   *call;

	if (!condition_read_array_operator(clause, &condition, &symmetric) ||
		!objects_find(condition.distance, &objects))
		return clause;
	if (!is_indexable(rewrite, &objects, condition.a, condition.b))
	{
		Node	   *column = condition.b;

		condition.b = condition.a;
		condition.a = column;
		if (!symmetric || !is_indexable(rewrite, &objects, condition.a, condition.b))
			return clause;
	}
	call = condition_make_call(&condition, condition.function, NIL);
	if ((rewrite->root->qual_security_level == 0 && IsA(condition.b, Const) &&
		 estimate_elements(rewrite->root, condition.b) <= 1) ||
		!privileges_suffice(rewrite->root, clause) ||
		!privileges_suffice(rewrite->root, call) ||
		is_compared_elsewhere(rewrite, rewrite->rel->relid, &condition))
		return clause;
	return call;
}

/* --- AND and OR ---------------------------------------------------------------------- */

/*
 * Append to a list the call that tells what all arms of an OR imply: the weakest bound of a
 * distance that each of them bounds.  The OR precedes it.
 */
static List *
append_implied(Rewrite *rewrite, List *result, Node *clause, Node *next)
{
	SimHashObjects objects;
	Condition	condition;
	Node	   *call;

	if (!condition_read_implied(clause, &condition) ||
		!objects_find(condition.distance, &objects) ||
		contain_subplans((Node *) list_make2(condition.a, condition.b)))
		return result;
	call = make_permitted_call(rewrite, KEPT, &condition,
							   condition_make_bounds(&condition, &objects));
	return call && !equal(call, next) ? lappend(result, call) : result;
}

/*
 * Append an OR to a list, with the comparisons in it rewritten.  An OR that does not change is
 * appended as the same node.
 */
static List *
append_or(Rewrite *rewrite, List *result, Node *clause, Node *next)
{
	List	   *arms = NIL;
	bool		changed = false;
	ListCell   *lc;

	foreach(lc, ((BoolExpr *) clause)->args)
	{
		Node	   *arm = lfirst(lc);
		List	   *conjuncts = is_andclause(arm) ? ((BoolExpr *) arm)->args : list_make1(arm);
		List	   *rewritten = rewrite_list(rewrite, conjuncts);

		if (!equal(rewritten, conjuncts))
		{
			arm = (Node *) make_ands_explicit(rewritten);
			changed = true;
		}
		arms = lappend(arms, arm);
	}
	if (!changed)
		return lappend(result, clause);
	clause = (Node *) make_orclause(arms);
	return append_implied(rewrite, lappend(result, clause), clause, next);
}

/*
 * Return an implicitly ANDed list of clauses with the comparisons in it rewritten, also below
 * AND and OR.  A clause that does not change stays the same node.  Checks for interrupts.
 */
List *
rewrite_list(Rewrite *rewrite, List *clauses)
{
	List	   *result = NIL;
	LastCall	last = {NULL};
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Node	   *clause = lfirst(lc);
		ListCell   *following = lnext(clauses, lc);
		Node	   *next = following ? lfirst(following) : NULL;
		Condition	condition;

		CHECK_FOR_INTERRUPTS();
		if (!rewrite->only_arrays && condition_read_comparison(clause, &condition))
		{
			result = append_comparison(rewrite, result, clause, &condition, next, &last);
			continue;
		}
		last.call = NULL;
		if (is_andclause(clause))
			result = list_concat(result, rewrite_list(rewrite, ((BoolExpr *) clause)->args));
		else if (is_orclause(clause))
			result = append_or(rewrite, result, clause, next);
		else
		{
			condition_check_signatures(clause);
			result = lappend(result, replace_array_operator(rewrite, clause));
		}
	}
	return result;
}
