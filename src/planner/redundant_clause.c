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
	LastFound  *last;			/* where the previous search ended */
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
 * Return true if a comparison bounds the distance of the call by the radius of the call.
 */
static bool
is_redundant(const Comparison *comparison, const WithinCall *call)
{
	bool		exact;

	return predicate_has_pair(call->predicate, comparison->a, comparison->b) &&
		equal(bound_radius(comparison, &exact), call->predicate->radius);
}

/*
 * Return the clause of a list element.  The element is the clause itself, or a
 * RestrictInfo if the planner has distributed the clauses to relations.
 */
static inline Node *
clause_of(List *clauses, int n)
{
	Node	   *node = list_nth(clauses, n);

	return IsA(node, RestrictInfo) ? (Node *) ((RestrictInfo *) node)->clause : node;
}

/*
 * Visit all elements of a list from *last on, or from the first one if the list is shorter.
 * The first element follows the last one.  A loop that finds an element sets *last to n.
 */
#define foreach_from_last(n, list, last) \
	for (int left = list_length(list), n = *(last) < left ? *(last) : 0; left > 0; \
		 left--, n = n + 1 < list_length(list) ? n + 1 : 0)

/*
 * Search the arms of an OR for the call.  Returns true if the call was found.
 */
static bool
find_in_or_arms(List *arms, const WithinCall *call, RedundantClause *redundant)
{
	foreach_from_last(n, arms, &call->last->or_arm)
	{
		Node	   *arm = clause_of(arms, n);

		/* an arm that is not an AND cannot contain both clauses */
		if (is_andclause(arm) ? find_in_clauses(((BoolExpr *) arm)->args, call, redundant) :
			is_call(arm, call))
		{
			call->last->or_arm = n;
			return true;
		}
	}
	return false;
}

/*
 * Search the list of clauses that contains the call for the redundant clause.  Remembers a
 * list without any comparison.  The planner keeps a relation's clauses until it has a plan.
 */
static void
find_comparison(List *clauses, const WithinCall *call, RedundantClause *redundant)
{
	LastFound  *last = call->last;
	bool		any = false;

	if (clauses == last->plain && list_length(clauses) == last->plain_length)
		return;
	foreach_from_last(n, clauses, &last->comparison)
	{
		Node	   *node = clause_of(clauses, n);

		if (!read_comparison(node, &redundant->comparison))
			continue;
		any = true;
		if (is_redundant(&redundant->comparison, call))
		{
			redundant->clause = (OpExpr *) node;
			last->comparison = n;
			return;
		}
	}
	if (!any)
	{
		last->plain = clauses;
		last->plain_length = list_length(clauses);
	}
}

/*
 * Search an implicitly ANDed list of clauses, and ORs in the list, for the call.  If the
 * call is found, searches the list that contains it, and no other list, for the redundant
 * clause.  Returns true if the call was found.
 */
static bool
find_in_clauses(List *clauses, const WithinCall *call, RedundantClause *redundant)
{
	foreach_from_last(n, clauses, &call->last->clause)
	{
		Node	   *node = clause_of(clauses, n);
		bool		found = is_call(node, call);

		if (found)
			find_comparison(clauses, call, redundant);
		else if (is_orclause(node))
			found = find_in_or_arms(((BoolExpr *) node)->args, call, redundant);
		if (found)
		{
			call->last->clause = n;
			return true;
		}
	}
	return false;
}

/*
 * Find the redundant clause of a predicate among the clauses of the predicate's relations.
 * Sets redundant->clause to NULL if there is none.
 *
 * Checks for interrupts, since the search may be long, and there is one for each clause.
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
	call.last = &planner_run_of(root)->last_found;
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
