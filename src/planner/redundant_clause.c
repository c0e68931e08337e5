/*
 * The redundant clause: a comparison that a call of simhash_within repeats
 *
 * The rewrite keeps a comparison if simhash_within is not equivalent to it, or if the
 * planner needs the comparison unchanged.  It adds simhash_within beside the comparison.
 * The two clauses are nearly equivalent, so they are not independent, and the product of
 * their selectivities would be too small.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "planner/redundant_clause.h"
#include "planner/planner_run.h"

/* A call of simhash_within or containment_within, to search for. */
typedef struct WithinCall
{
	const Predicate *predicate; /* predicate with the arguments of the call */
	Oid			within;			/* OID of the function that is called */
	int		   *last_or_arm;	/* index of the OR arm in which the previous call was found */
} WithinCall;

static bool find_in_clauses(List *clauses, const WithinCall *call, RedundantClause *redundant);

/*
 * Return true if a node is the call to search for.
 */
static bool
is_call(Node *node, const WithinCall *call)
{
	FuncExpr   *func = (FuncExpr *) node;

	return IsA(node, FuncExpr) && func->funcid == call->within &&
		equal(lthird(func->args), call->predicate->radius) &&
		predicate_has_pair(call->predicate, linitial(func->args), lsecond(func->args));
}

/*
 * Return true if a clause compares the distance of the call with the radius of the call.
 * Uses *comparison as the output of read_comparison(), so it is valid only if the result
 * is true.
 */
static bool
is_comparison(Node *node, const WithinCall *call, Comparison *comparison)
{
	bool		exact;

	return read_comparison(node, comparison) &&
		predicate_has_pair(call->predicate, comparison->a, comparison->b) &&
		equal(bound_radius(comparison, &exact), call->predicate->radius);
}

/*
 * Return the clause of a list element.  The element is the clause itself, or a
 * RestrictInfo if the planner has distributed the clauses to relations.
 */
static Node *
clause_of(ListCell *lc)
{
	Node	   *node = lfirst(lc);

	return IsA(node, RestrictInfo) ? (Node *) ((RestrictInfo *) node)->clause : node;
}

/*
 * Search the arms of an OR for the call.  Returns true if the call was found.
 *
 * The planner estimates one arm after the other, so the next call is in the same arm or in
 * the next one.  So the search begins at the arm of the previous call.  Otherwise the
 * planner's estimate of a long OR would take quadratic time.
 */
static bool
find_in_or_arms(List *arms, const WithinCall *call, RedundantClause *redundant)
{
	int			narms = list_length(arms);

	for (int i = 0; i < narms; i++)
	{
		int			n = (*call->last_or_arm + i) % narms;
		Node	   *arm = list_nth(arms, n);

		/* an arm that is not an AND cannot contain both clauses */
		if (is_andclause(arm) ? find_in_clauses(((BoolExpr *) arm)->args, call, redundant) :
			is_call(arm, call))
		{
			*call->last_or_arm = n;
			return true;
		}
	}
	return false;
}

/*
 * Search an implicitly ANDed list of clauses, and ORs in the list, for the call.  If the
 * call is found, searches the list that contains it, and no other list, for the redundant
 * clause.  Returns true if the call was found.
 */
static bool
find_in_clauses(List *clauses, const WithinCall *call, RedundantClause *redundant)
{
	bool		found = false;
	ListCell   *lc;

	redundant->clause = NULL;
	foreach(lc, clauses)
	{
		Node	   *node = clause_of(lc);

		if (is_call(node, call))
			found = true;
		else if (is_orclause(node) &&
				 find_in_or_arms(((BoolExpr *) node)->args, call, redundant))
			return true;
	}
	if (!found)
		return false;
	foreach(lc, clauses)
	{
		Node	   *node = clause_of(lc);

		if (is_comparison(node, call, &redundant->comparison))
		{
			redundant->clause = (OpExpr *) node;
			break;
		}
	}
	return true;
}

/*
 * Find the redundant clause of a predicate among the clauses of the predicate's relations.
 * Sets redundant->clause to NULL if there is none.
 *
 * Checks for interrupts, since the planner searches all clauses once for each clause.
 */
void
redundant_clause_find(PlannerInfo *root, const Predicate *predicate,
					  RedundantClause *redundant)
{
	SimHashObjects objects;
	WithinCall	call = {.predicate = predicate};
	Relids		relids;
	int			relid = -1;

	CHECK_FOR_INTERRUPTS();
	redundant->clause = NULL;
	if (predicate->distance == NULL || predicate->b == NULL ||
		!objects_find(predicate->distance, &objects) ||
		objects.within != predicate->function)
		return;
	call.within = objects.within;
	call.last_or_arm = &planner_run_of(root)->last_or_arm;
	relids = bms_union(pull_varnos(root, predicate->a), pull_varnos(root, predicate->b));
	while ((relid = bms_next_member(relids, relid)) >= 0)
	{
		RelOptInfo *rel = relid < root->simple_rel_array_size ?
			root->simple_rel_array[relid] : NULL;

		if (rel && (find_in_clauses(rel->baserestrictinfo, &call, redundant) ||
					find_in_clauses(rel->joininfo, &call, redundant)))
			break;
	}
	bms_free(relids);
}

/*
 * Return true if the planner has statistics of the distance itself, and the operator of
 * the redundant clause may see them.  ANALYZE collects them if the distance is an
 * expression of an index or of extended statistics.
 */
bool
redundant_clause_has_statistics(PlannerInfo *root, const RedundantClause *redundant,
								int varRelid)
{
	OpExpr	   *op = redundant->clause;
	Node	   *distance = linitial(op->args);
	VariableStatData data;
	bool		result;

	if (distance == redundant->comparison.bound)
		distance = lsecond(op->args);
	examine_variable(root, distance, varRelid, &data);
	result = HeapTupleIsValid(data.statsTuple) &&
		statistic_proc_security_check(&data, get_opcode(op->opno));
	ReleaseVariableStats(data);
	return result;
}
