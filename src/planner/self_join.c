/*
 * Joins of a table with itself
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

#include "planner/planner.h"

/*
 * Return true if two expressions are the same, one of relation a alone, the other of relation b
 * alone.
 */
bool
is_same_of_both(Node *of_a, Node *of_b, int a, int b)
{
	Node	   *a_as_b = copyObject(of_a);
	Node	   *b_as_a = copyObject(of_b);

	ChangeVarNodes(a_as_b, a, b, 0);
	ChangeVarNodes(b_as_a, b, a, 0);
	return equal(a_as_b, of_b) && equal(b_as_a, of_a);
}

/*
 * Return the pairs of rows of the same table that a clause excludes, if it compares an expression
 * of relation a with the same expression of relation b by <, > or <> of a btree family.
 */
ExcludedPairs
excluded_pairs(Expr *clause, int a, int b)
{
	OpExpr	   *op = (OpExpr *) clause;

	if (!IsA(clause, OpExpr) || list_length(op->args) != 2 ||
		(!is_same_of_both(linitial(op->args), lsecond(op->args), a, b) &&
		 !is_same_of_both(linitial(op->args), lsecond(op->args), b, a)) ||
		contain_volatile_functions((Node *) clause))
		return EXCLUDES_NONE;
	if (OidIsValid(get_equality_op_for_ordering_op(op->opno, NULL)))
		return EXCLUDES_OTHER_ORDER;
	return get_mergejoin_opfamilies(get_negator(op->opno)) != NIL ? EXCLUDES_ITSELF : EXCLUDES_NONE;
}

/*
 * Return how the two sides of a join by this condition are related.  Looks for a clause that
 * excludes the pairs of a row and itself, as a.id < b.id does.
 */
SelfJoin
self_join_read(PlannerInfo *root, const Condition *condition)
{
	SelfJoin	self = {0};
	int			a;
	int			b;
	RelOptInfo *rel;
	ListCell   *lc;

	if (condition->b == NULL ||
		!bms_get_singleton_member(pull_varnos(root, condition->a), &a) ||
		!bms_get_singleton_member(pull_varnos(root, condition->b), &b) ||
		!is_same_of_both(condition->a, condition->b, a, b) ||
		planner_rt_fetch(a, root)->rtekind != RTE_RELATION ||
		planner_rt_fetch(a, root)->relid != planner_rt_fetch(b, root)->relid)
		return self;
	self.same_values = true;
	rel = find_base_rel(root, a);
	foreach(lc, rel->joininfo)
	{
		if (excluded_pairs(lfirst_node(RestrictInfo, lc)->clause, a, b) != EXCLUDES_NONE)
		{
			self.excluded = 1 / Max(rel->tuples, 1);
			break;
		}
	}
	return self;
}
