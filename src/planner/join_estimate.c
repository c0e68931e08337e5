/*
 * Selectivity of comparisons of a distance between two relations
 *
 * The clause a.fp <~> b.fp <= 3 compares integers, so core assumes its default: a third of
 * all pairs.  Where an index serves the clause, the rewrite has replaced it by
 * simhash_within, which estimates itself, or has added that beside it.  For all other
 * comparisons, this file computes the selectivity and stores it where core caches
 * selectivities, in the RestrictInfo.  Core does the same with clauses that it extracts
 * from an OR (orclauses.c).  So the clause stays as the user wrote it, and needs no index.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "planner/hooks.h"
#include "planner/redundant_clause.h"
#include "planner/selectivity.h"

/*
 * Read the opposite of a clause that bounds a distance from below.  Returns false for any
 * other clause.
 */
static bool
read_lower_bound(Expr *clause, Predicate *opposite)
{
	OpExpr	   *op = (OpExpr *) clause;
	Oid			negator = IsA(clause, OpExpr) ? get_negator(op->opno) : InvalidOid;
	bool		exact;

	if (!OidIsValid(negator) || list_length(op->args) != 2)
		return false;
	return predicate_read_bound((Node *) make_opclause(negator, op->opresulttype, op->opretset,
													   linitial(op->args), lsecond(op->args),
													   op->opcollid, op->inputcollid),
								opposite, &exact);
}

/*
 * Return the semijoin or antijoin that evaluates a clause, or NULL if another join does.
 */
static SpecialJoinInfo *
semijoin_of(PlannerInfo *root, const RestrictInfo *rinfo)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		SpecialJoinInfo *sjinfo = lfirst(lc);

		if ((sjinfo->jointype == JOIN_SEMI || sjinfo->jointype == JOIN_ANTI) &&
			bms_overlap(rinfo->clause_relids, sjinfo->syn_lefthand) &&
			bms_overlap(rinfo->clause_relids, sjinfo->syn_righthand))
			return sjinfo;
	}
	return NULL;
}

/*
 * Set the cached selectivities of a clause that bounds a distance from above.  A call of
 * simhash_within estimates itself, or removes no rows if it has a redundant clause.
 */
static void
estimate_upper_bound(PlannerInfo *root, RestrictInfo *rinfo, const Predicate *predicate)
{
	SpecialJoinInfo *sjinfo = semijoin_of(root, rinfo);

	if (IsA(rinfo->clause, FuncExpr))
	{
		Predicate	call = *predicate;
		RedundantClause redundant;

		call.function = ((FuncExpr *) rinfo->clause)->funcid;
		redundant_clause_find(root, &call, &redundant);
		if (redundant.clause)
			rinfo->norm_selec = rinfo->outer_selec = 1;
		return;
	}
	rinfo->norm_selec = selectivity_of_join(root, predicate, JOIN_INNER, NULL);
	rinfo->outer_selec = sjinfo == NULL ? rinfo->norm_selec :
		selectivity_of_join(root, predicate, sjinfo->jointype, sjinfo);
}

/*
 * Return the fraction of pairs that the upper bounds on the distance of a predicate leave.
 */
static Selectivity
fraction_below_upper_bounds(PlannerInfo *root, List *clauses, const Predicate *predicate)
{
	Selectivity fraction = 1;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Predicate	upper;
		bool		exact;

		if (predicate_read_bound((Node *) lfirst_node(RestrictInfo, lc)->clause, &upper, &exact) &&
			upper.distance == predicate->distance &&
			predicate_has_pair(predicate, upper.a, upper.b))
			fraction = Min(fraction, selectivity_of_join(root, &upper, JOIN_INNER, NULL));
	}
	return fraction;
}

/*
 * Set the cached selectivities of a clause that bounds a distance from below.  `opposite` is
 * the predicate that must not hold.  The selectivities are for the pairs that upper bounds
 * in `clauses` leave, as in d BETWEEN 1 AND 4.  In a semijoin the clause is not estimated to
 * remove rows.
 */
static void
estimate_lower_bound(PlannerInfo *root, RestrictInfo *rinfo, List *clauses,
					 const Predicate *opposite)
{
	Selectivity below = selectivity_of_join(root, opposite, JOIN_INNER, NULL);
	Selectivity upper = fraction_below_upper_bounds(root, clauses, opposite);

	rinfo->norm_selec = below < upper ? 1 - below / upper : 0;
	rinfo->outer_selec = semijoin_of(root, rinfo) ? 1 : rinfo->norm_selec;
}

/*
 * Return true if a clause is of several base relations.  From 16 on, the relids of a clause
 * of one relation may contain outer joins.  Core uses no cached selectivity of a clause of
 * a child relation.
 */
static bool
is_join_clause(PlannerInfo *root, const RestrictInfo *rinfo)
{
	Relids		relids = bms_intersect(rinfo->clause_relids, root->all_baserels);

	return bms_membership(relids) == BMS_MULTIPLE;
}

/*
 * Set the cached selectivities of a clause of several relations, and of the clauses in its
 * ORs and ANDs, unless they are set.  `clauses` is the list that contains the clause.
 */
static void
estimate_clause(PlannerInfo *root, Node *node, List *clauses)
{
	RestrictInfo *rinfo = (RestrictInfo *) node;
	ListCell   *lc;

	if (IsA(node, BoolExpr))
	{
		List	   *args = ((BoolExpr *) node)->args;

		foreach(lc, args)
			estimate_clause(root, lfirst(lc), is_andclause(node) ? args : NIL);
	}
	else if (rinfo->orclause)
		estimate_clause(root, (Node *) rinfo->orclause, NIL);
	else if (rinfo->norm_selec < 0 && is_join_clause(root, rinfo))
	{
		Predicate	predicate;
		bool		exact;

		if (predicate_read_bound((Node *) rinfo->clause, &predicate, &exact))
			estimate_upper_bound(root, rinfo, &predicate);
		else if (read_lower_bound(rinfo->clause, &predicate))
			estimate_lower_bound(root, rinfo, clauses, &predicate);
	}
}

/*
 * Set the selectivities of the join clauses of a relation, unless they are set.  Core must
 * have estimated the size of each relation.
 */
void
join_estimate_clauses(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->joininfo)
		estimate_clause(root, lfirst(lc), rel->joininfo);
}
