/*
 * Rewrite a clause, so that an index of a table can serve it
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/datum.h"

#include "compat.h"
#include "planner/comparison.h"
#include "planner/rewrite/indexable.h"
#include "planner/rewrite/rewrite_clause.h"

/*
 * Return an expression with references to the parent replaced by references to the table.
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
 * Return a copy of an expression.  The copy of a constant has the same value, not a copy of
 * it: an array may be large, and each partition has a call of its own.
 */
static Node *
copy_argument(Node *node)
{
	Const	   *constant;

	if (!IsA(node, Const))
		return copyObject(node);
	constant = makeNode(Const);
	*constant = *(Const *) node;
	return (Node *) constant;
}

/*
 * Return true if a comparison must stay in the plan although simhash_within is equivalent
 * to it.
 *
 * If the clause also applies to other children, other uses of the distance can be checked
 * for this child only.  So the comparison must stay, unless its distance is between two
 * tables.  No object of another child contains such a distance.
 */
static bool
must_keep(Rewrite *rewrite, const Comparison *comparison)
{
	if (rewrite->for_siblings &&
		bms_membership(pull_varnos(rewrite->root, (Node *)
								   list_make2(comparison->a, comparison->b))) != BMS_MULTIPLE)
		return true;
	if (comparison->callee != rewrite->callee ||
		comparison->callee_class != rewrite->callee_class)
	{
		rewrite->compared = compared_elsewhere(rewrite->root, rewrite->rel, comparison);
		rewrite->callee = comparison->callee;
		rewrite->callee_class = comparison->callee_class;
	}
	return rewrite->compared;
}

/*
 * Return true if an index can search for an operator on arrays whose operands are the
 * column a and the query b.
 */
static bool
array_operator_indexable(Rewrite *rewrite, const Comparison *operands, Node *a, Node *b)
{
	a = translate(rewrite, a);
	b = translate(rewrite, b);
	return indexable_by_relation(rewrite->root, rewrite->rel, &operands->objects, a, b, b);
}

/*
 * Return true if an expression is a constant array of at most one element.  Core's estimates
 * suffice for it.
 */
static bool
is_short_array(Node *node)
{
	Const	   *constant = (Const *) node;
	ArrayType  *array;

	if (!IsA(node, Const) || constant->constisnull)
		return false;
	array = DatumGetArrayTypeP(constant->constvalue);
	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) <= 1;
}

/*
 * Return the call that replaces an operator on arrays of hashes.  Core would estimate the
 * operator as if elements were independent, and as if comparing each with each were cheap.
 * Returns the clause itself if no index can serve it, or if the array is short.  Then a
 * bitmap scan need not filter its rows by the call.  Below a security barrier a short array
 * makes no difference: an administrator may have marked the call as leakproof.
 */
static Node *
replace_array_operator(Rewrite *rewrite, Node *clause)
{
	ArrayOperator operator;
	Comparison *operands = &operator.operands;
	Node	   *column;
	Node	   *query;
	Node	   *call;

	if (!read_array_operator(clause, &operator))
		return clause;
	column = operands->a;
	query = operands->b;
	if (!array_operator_indexable(rewrite, operands, column, query))
	{
		column = operands->b;
		query = operands->a;
		if (!operator.symmetric ||
			!array_operator_indexable(rewrite, operands, column, query))
			return clause;
	}
	call = (Node *) makeFuncExpr(operator.function, BOOLOID,
								 list_make2(copy_argument(column), copy_argument(query)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	if ((rewrite->root->qual_security_level == 0 && is_short_array(query)) ||
		!privileges_suffice(rewrite->root, clause) ||
		!privileges_suffice(rewrite->root, call) || must_keep(rewrite, operands))
		return clause;
	return call;
}

/*
 * Return a hash value of the constants and parameters in a call of simhash_within.
 */
static int
hash_call(const FuncExpr *call)
{
	uint32		hash = 0;
	ListCell   *lc;

	foreach(lc, call->args)
	{
		const Const *constant = lfirst(lc);

		if (IsA(constant, Param))
			hash = hash_combine(hash, ((const Param *) constant)->paramid);
		else if (IsA(constant, Const) && !constant->constisnull)
			hash = hash_combine(hash, datum_image_hash(constant->constvalue, constant->constbyval,
													   constant->constlen));
	}
	return hash;
}

/*
 * Return true if a list contains a call of simhash_within that append_comparison() has made.
 * Compares the call with those only whose hash value is the same, since the list may be long.
 */
static bool
is_repeated(Rewrite *rewrite, List *result, const FuncExpr *within)
{
	int			hash = hash_call(within);

	if (list_member_int(rewrite->hashes, hash))
		return list_member(result, within);
	rewrite->hashes = lappend_int(rewrite->hashes, hash);
	return false;
}

/*
 * Append a comparison to the result.  If an index can serve it, append simhash_within
 * instead of the comparison or after it.  `calls` are the calls of functions in the list that
 * contains the comparison.  They may include the same call of simhash_within, added for
 * another table.
 */
static List *
append_comparison(Rewrite *rewrite, List *result, List *calls, Node *clause)
{
	Comparison	comparison;
	Expr	   *radius;
	Expr	   *within;
	bool		exact;

	if (!read_comparison(clause, &comparison))
	{
		check_signature_bound(clause);
		return lappend(result, replace_array_operator(rewrite, clause));
	}
	radius = bound_radius(&comparison, &exact);
	if (!indexable_by_relation(rewrite->root, rewrite->rel, &comparison.objects,
							   translate(rewrite, comparison.a),
							   translate(rewrite, comparison.b),
							   translate(rewrite, (Node *) radius)) ||
		!privileges_suffice_for_search(rewrite->root, &comparison.objects))
		return lappend(result, clause);
	within = (Expr *) makeFuncExpr(comparison.objects.within, BOOLOID,
								   list_make3(copy_argument(comparison.a),
											  copy_argument(comparison.b), radius),
								   InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	if (!privileges_suffice(rewrite->root, clause) ||
		!privileges_suffice(rewrite->root, (Node *) within))
		return lappend(result, clause);
	if (!exact || must_keep(rewrite, &comparison))
	{
		result = lappend(result, clause);

		/* a subplan is expensive, so do not evaluate it in two clauses */
		if (contain_subplans(clause))
			return result;
	}
	if (!list_member(calls, within) && !is_repeated(rewrite, result, (FuncExpr *) within))
		result = lappend(result, within);
	return result;
}

/*
 * Append a clause to the result, with the comparisons in it rewritten, also below AND and
 * OR.  A clause that does not change is appended as the same node.
 */
List *
rewrite_clause(Rewrite *rewrite, List *result, List *calls, Node *clause)
{
	List	   *arms = NIL;
	bool		changed = false;
	ListCell   *lc;

	if (is_andclause(clause))
		return list_concat(result, rewrite_list(rewrite, ((BoolExpr *) clause)->args));
	if (!is_orclause(clause))
		return append_comparison(rewrite, result, calls, clause);

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
	return lappend(result, changed ? (Node *) make_orclause(arms) : clause);
}

/*
 * Return the calls of functions in an implicitly ANDed list of clauses or RestrictInfos.
 */
List *
calls_of(List *clauses)
{
	List	   *calls = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Node	   *node = lfirst(lc);

		if (IsA(node, RestrictInfo))
			node = (Node *) ((RestrictInfo *) node)->clause;
		if (IsA(node, FuncExpr))
			calls = lappend(calls, node);
	}
	return calls;
}

/*
 * Return a rewritten copy of an implicitly ANDed list.  Checks for interrupts.
 */
List *
rewrite_list(Rewrite *rewrite, List *clauses)
{
	List	   *calls = calls_of(clauses);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		CHECK_FOR_INTERRUPTS();
		result = rewrite_clause(rewrite, result, calls, lfirst(lc));
	}
	return result;
}
